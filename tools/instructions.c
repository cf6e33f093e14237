/* Counts the instructions of a program from one call of a function to the next.
 *
 * usage: instructions OFFSET LENGTH SKIP CALLS PROGRAM [ARGUMENT]...
 *
 * OFFSET is that of the function in PROGRAM, in hexadecimal; its third argument is a length. Calls with
 * another LENGTH are passed over, and so are SKIP of the others, and then those of a tenth of a second; CALLS
 * follow instruction by instruction, each with what the caller does before the next. A line for each instruction met: its offset
 * in PROGRAM, in hexadecimal, and how often it ran. PROGRAM is ended then. `tools/instructions` runs this. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* An opcode of one byte that traps. */
enum { BREAKPOINT = 0xcc };

struct counted {
    uint64_t at, times;
};

static uint64_t program_start;

static void fail(const char *what)
{
    fprintf(stderr, "instructions: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int by_address(const void *a, const void *b)
{
    const struct counted *left = a, *right = b;
    return (left->at > right->at) - (left->at < right->at);
}

static void count(void **tree, uint64_t at)
{
    struct counted *key = calloc(1, sizeof *key);
    if (!key)
        fail("memory");
    key->at = at;
    struct counted **found = tsearch(key, tree, by_address);
    if (!found)
        fail("memory");
    if (*found != key)
        free(key);
    (*found)->times++;
}

static void print(const void *node, VISIT which, int depth)
{
    (void)depth;
    const struct counted *counted = *(struct counted *const *)node;
    if (which == postorder || which == leaf)
        printf("%" PRIx64 " %" PRIu64 "\n", counted->at - program_start, counted->times);
}

/* Where the program's first page is. */
static uint64_t start_of(pid_t program)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/maps", program);
    FILE *maps = fopen(path, "r");
    uint64_t start;
    if (!maps || fscanf(maps, "%" SCNx64, &start) != 1)
        fail(path);
    fclose(maps);
    return start;
}

/* Waits for a thread of `program` to run into the breakpoint, and returns it. */
static pid_t hit(pid_t program, uint64_t at, struct user_regs_struct *registers)
{
    for (;;) {
        int status;
        pid_t thread = waitpid(-1, &status, __WALL);
        if (thread < 0)
            fail("the program has ended");
        if (!WIFSTOPPED(status)) {
            if (thread != program)
                continue;
            fprintf(stderr, "instructions: the program ended before that many calls\n");
            exit(1);
        }
        int number = WSTOPSIG(status);
        bool of_thread = status >> 16 || number == SIGSTOP;
        if (number == SIGTRAP && !of_thread) {
            if (ptrace(PTRACE_GETREGS, thread, 0, registers))
                fail("registers");
            if (registers->rip == at + 1)
                return thread;
        }
        ptrace(PTRACE_CONT, thread, 0, of_thread || number == SIGTRAP ? 0 : number);
    }
}

/* Runs the instruction at the breakpoint's place, and leaves `registers` behind it. */
static void step(pid_t thread, struct user_regs_struct *registers)
{
    int status;
    if (ptrace(PTRACE_SINGLESTEP, thread, 0, 0) || waitpid(thread, &status, __WALL) < 0 || !WIFSTOPPED(status))
        fail("a step");
    if (ptrace(PTRACE_GETREGS, thread, 0, registers))
        fail("registers");
}

/* Lets the thread run, without a breakpoint: a caller that looks at the clock now and then sees no trace of us. */
static void run_freely(pid_t program, pid_t thread)
{
    int status;
    if (ptrace(PTRACE_CONT, thread, 0, 0) || usleep(100 * 1000) ||
        syscall(SYS_tgkill, program, thread, SIGSTOP) || waitpid(thread, &status, __WALL) < 0 ||
        !WIFSTOPPED(status))
        fail("a stop");
}

/* The thread that calls the function at `at` next; the instruction there is as it was. */
static pid_t next_call(pid_t program, pid_t thread, uint64_t at, struct user_regs_struct *registers)
{
    errno = 0;
    long original = ptrace(PTRACE_PEEKTEXT, thread, at, 0), trap = (original & ~0xffL) | BREAKPOINT;
    if (errno || ptrace(PTRACE_POKETEXT, thread, at, trap) || ptrace(PTRACE_CONT, thread, 0, 0))
        fail("the breakpoint");
    thread = hit(program, at, registers);
    registers->rip = at;
    if (ptrace(PTRACE_SETREGS, thread, 0, registers) || ptrace(PTRACE_POKETEXT, thread, at, original))
        fail("the breakpoint");
    return thread;
}

int main(int argc, char **argv)
{
    if (argc < 6) {
        fprintf(stderr, "usage: instructions OFFSET LENGTH SKIP CALLS PROGRAM [ARGUMENT]...\n");
        return 2;
    }
    uint64_t length = strtoull(argv[2], NULL, 10);
    unsigned long skip = strtoul(argv[3], NULL, 10), calls = strtoul(argv[4], NULL, 10);
    pid_t program = fork();
    if (program < 0)
        fail("fork");
    if (!program) {
        personality(ADDR_NO_RANDOMIZE);
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        execv(argv[5], argv + 5);
        fail(argv[5]);
    }
    int status;
    if (waitpid(program, &status, 0) < 0 || !WIFSTOPPED(status))
        fail(argv[5]);
    ptrace(PTRACE_SETOPTIONS, program, 0, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
    program_start = start_of(program);
    uint64_t at = program_start + strtoull(argv[1], NULL, 16);
    struct user_regs_struct registers;
    pid_t thread = program;
    for (unsigned long met = 0; met < skip;) {
        thread = next_call(program, thread, at, &registers);
        met += registers.rdx == length;
        step(thread, &registers);
    }
    run_freely(program, thread);
    do
        thread = next_call(program, thread, at, &registers);
    while (registers.rdx != length);
    void *tree = NULL;
    for (unsigned long met = 0; met < calls;) {
        count(&tree, registers.rip);
        step(thread, &registers);
        met += registers.rip == at;
    }
    twalk(tree, print);
    kill(program, SIGKILL);
    return fflush(stdout) ? 1 : 0;
}
