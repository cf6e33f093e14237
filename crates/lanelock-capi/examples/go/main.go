// Seals a burst of messages with ChaCha20-Poly1305, each under a nonce of its own, and opens them.
//
//	go build .
package main

// #cgo pkg-config: lanelock
// #include <lanelock.h>
// #include <stdlib.h>
import "C"

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"
)

// check turns what a function returned into an error.
func check(code C.int32_t, said *C.lanelock_error) error {
	if code == C.LANELOCK_OK {
		return nil
	}
	return errors.New(C.GoString(&said.text[0]))
}

// session prepares ChaCha20-Poly1305.
func session(device *C.lanelock_device, direction C.uint32_t, key []byte) (*C.lanelock_session, error) {
	var transform C.lanelock_transform
	var said C.lanelock_error
	var made *C.lanelock_session
	var pinner runtime.Pinner
	defer pinner.Unpin()
	pinner.Pin(&key[0])
	C.lanelock_transform_init(&transform, C.LANELOCK_CHACHA20_POLY1305, direction,
		unsafe.Pointer(&key[0]), C.size_t(len(key)))
	err := check(C.lanelock_session_new(device, &transform, &made, &said), &said)
	return made, err
}

// process runs one operation for each message in place, with its nonce and tag. C keeps no pointer
// into Go's memory once the call has returned.
func process(queue *C.lanelock_queue_pair, session *C.lanelock_session, messages, nonces, tags [][]byte) int {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	count := len(messages)
	memory := C.calloc(C.size_t(count), C.size_t(unsafe.Sizeof(C.lanelock_op{})))
	defer C.free(memory)
	ops := unsafe.Slice((*C.lanelock_op)(memory), count)
	pointer := func(data []byte) unsafe.Pointer {
		pinner.Pin(&data[0])
		return unsafe.Pointer(&data[0])
	}
	for i := range ops {
		op := &ops[i]
		C.lanelock_op_in_place(op, session, pointer(messages[i]), C.size_t(len(messages[i])))
		C.lanelock_op_iv(op, pointer(nonces[i]), C.size_t(len(nonces[i])))
		C.lanelock_op_tag(op, pointer(tags[i]), C.size_t(len(tags[i])))
	}
	return int(C.lanelock_process(queue, &ops[0], C.size_t(count)))
}

func run() error {
	var device *C.lanelock_device
	var queue *C.lanelock_queue_pair
	var said C.lanelock_error
	if err := check(C.lanelock_device_open(&device, &said), &said); err != nil {
		return err
	}
	defer C.lanelock_device_free(device)
	if err := check(C.lanelock_queue_pair_new(device, 0, &queue, &said), &said); err != nil {
		return err
	}
	defer C.lanelock_queue_pair_free(queue)
	key := bytes.Repeat([]byte{7}, 32)
	seal, err := session(device, C.LANELOCK_FORWARD, key)
	if err != nil {
		return err
	}
	defer C.lanelock_session_free(seal)
	open, err := session(device, C.LANELOCK_REVERSE, key)
	if err != nil {
		return err
	}
	defer C.lanelock_session_free(open)

	var messages, nonces, tags [][]byte
	for i := 0; i < 16; i++ {
		nonce := make([]byte, 12)
		nonce[0] = byte(i)
		messages = append(messages, []byte(fmt.Sprintf("message number %d", i)))
		nonces = append(nonces, nonce)
		tags = append(tags, make([]byte, 16))
	}
	fmt.Println("sealed", process(queue, seal, messages, nonces, tags))
	tags[3][0] ^= 1
	fmt.Println("opened", process(queue, open, messages, nonces, tags))
	fmt.Println(string(messages[15]))
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "burst:", err)
		os.Exit(1)
	}
}
