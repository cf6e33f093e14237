/* Encrypts a burst of packets with AES-128-GCM, each under an IV of its own, and decrypts them.
 *
 *     cc -std=c99 burst.c $(pkg-config --cflags --libs lanelock) -o burst
 */
#include <lanelock.h>
#include <stdio.h>
#include <stdlib.h>

enum { PACKETS = 32, LENGTH = 64, IV = 12, TAG = 16 };

static unsigned char packet[PACKETS][LENGTH], iv[PACKETS][IV], tag[PACKETS][TAG];
static lanelock_op op[PACKETS];

static void check(int status, const lanelock_error *error) {
    if (status != LANELOCK_OK) {
        fprintf(stderr, "burst: %s\n", error->text);
        exit(1);
    }
}

int main(void) {
    static const unsigned char key[16] = "sixteen bytes !";
    lanelock_error error;
    lanelock_device *device;
    lanelock_queue_pair *queue;
    lanelock_session *seal, *open;
    lanelock_transform transform;
    ptrdiff_t done;
    int i;

    /* Once for the program; a queue pair for each thread; a session for each key. */
    check(lanelock_device_open(&device, &error), &error);
    check(lanelock_queue_pair_new(device, 0, &queue, &error), &error);
    lanelock_transform_init(&transform, LANELOCK_AES_GCM, LANELOCK_FORWARD, key, sizeof key);
    check(lanelock_session_new(device, &transform, &seal, &error), &error);
    transform.direction = LANELOCK_REVERSE;
    check(lanelock_session_new(device, &transform, &open, &error), &error);

    for (i = 0; i < PACKETS; i++) {
        iv[i][0] = (unsigned char)i;
        lanelock_op_in_place(&op[i], seal, packet[i], LENGTH);
        lanelock_op_iv(&op[i], iv[i], IV);
        lanelock_op_tag(&op[i], tag[i], TAG);
    }
    done = lanelock_process(queue, op, PACKETS);
    printf("encrypted %td packets\n", done);

    /* The same operations, the other way, one of them forged. */
    tag[7][0] ^= 1;
    for (i = 0; i < PACKETS; i++) {
        op[i].session = open;
        lanelock_op_rearm(&op[i]);
    }
    done = lanelock_process(queue, op, PACKETS);
    printf("decrypted %td packets; number 7 %s\n", done,
           op[7].status == LANELOCK_AUTH_FAILED ? "was forged" : "was not found out");

    lanelock_session_free(seal);
    lanelock_session_free(open);
    lanelock_queue_pair_free(queue);
    lanelock_device_free(device);
    return done == PACKETS - 1 && packet[0][0] == 0 ? 0 : 1;
}
