// Computes the SHA-256 digests of many strings in one burst.
//
//     c++ -std=c++20 burst.cpp $(pkg-config --cflags --libs lanelock) -o burst
#include <lanelock.h>

#include <array>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

// A handle that frees itself.
template <auto Free>
struct Freed {
    template <class T>
    void operator()(T *handle) const {
        Free(handle);
    }
};
using Device = std::unique_ptr<lanelock_device, Freed<lanelock_device_free>>;
using Session = std::unique_ptr<lanelock_session, Freed<lanelock_session_free>>;
using QueuePair = std::unique_ptr<lanelock_queue_pair, Freed<lanelock_queue_pair_free>>;

// Calls a function that makes a handle, and throws what it says if it fails.
template <class Handle, class Make>
Handle made(Make make) {
    lanelock_error error;
    typename Handle::pointer handle = nullptr;
    if (make(&handle, &error) != LANELOCK_OK) {
        throw std::runtime_error(error.text);
    }
    return Handle(handle);
}

int main() try {
    auto device = made<Device>(lanelock_device_open);
    auto queue = made<QueuePair>([&](auto **place, auto *error) {
        return lanelock_queue_pair_new(device.get(), 0, place, error);
    });
    lanelock_transform transform;
    lanelock_transform_init(&transform, LANELOCK_SHA256, LANELOCK_FORWARD, nullptr, 0);
    auto session = made<Session>([&](auto **place, auto *error) {
        return lanelock_session_new(device.get(), &transform, place, error);
    });

    const std::vector<std::string> words = {"abc", "", "many messages, one burst"};
    std::vector<std::array<unsigned char, 32>> digests(words.size());
    std::vector<lanelock_op> ops(words.size());
    for (std::size_t i = 0; i < words.size(); i++) {
        lanelock_op_read_only(&ops[i], session.get(), words[i].data(), words[i].size());
        lanelock_op_tag(&ops[i], digests[i].data(), digests[i].size());
    }
    const auto done = lanelock_process(queue.get(), ops.data(), ops.size());
    for (std::size_t i = 0; i < words.size(); i++) {
        for (unsigned char byte : digests[i]) {
            std::printf("%02x", byte);
        }
        std::printf("  %s\n", words[i].c_str());
    }
    return done == static_cast<std::ptrdiff_t>(words.size()) ? 0 : 1;
} catch (const std::exception &error) {
    std::fprintf(stderr, "burst: %s\n", error.what());
    return 1;
}
