module example.com/burst

go 1.21
