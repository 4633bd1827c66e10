// Call the thread pool's code from several threads, for the thread sanitizer. A mutex stands for Python's lock.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "pool_fields.h"

#define CALLERS 3
#define WORKERS 4
#define LONGEST 4096

extern int launch(void *function, void *frame, int64_t extent0, int64_t extent1, int64_t unit, int64_t grain0,
                  int64_t grain1, int64_t tile, int64_t workers);
extern void worker(void);

__attribute__((aligned(128))) char pool[POOL_SIZE];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int calls;

typedef struct {
    int64_t width;
    int64_t scratch[WORKERS][16];  // as kernels have it: a worker's number is its own
    int32_t counts[LONGEST];
} Frame;

static void set(int at, void *value) { *(void **)(pool + at) = value; }

static int piece(Frame *frame, int64_t begin0, int64_t end0, int64_t begin1, int64_t end1, int64_t number)
{
    for (int64_t i = begin0; i < end0; i++)
        for (int64_t j = begin1; j < end1; j++) {
            frame->counts[i * frame->width + j]++;
            frame->scratch[number][0]++;
        }
    return 0;
}

static void *save(void) { pthread_mutex_unlock(&lock); return &lock; }
static void restore(void *thread) { (void)thread; pthread_mutex_lock(&lock); }
static int signals(void) { return 0; }
static void drop(void *object) { (void)object; }
static void *work(void *nothing) { worker(); return nothing; }

static void *start(void *nothing)
{
    int64_t *started = (int64_t *)(pool + POOL_STARTED);
    pthread_t thread;
    while (*started < WORKERS - 1 && !pthread_create(&thread, NULL, work, NULL))
        ++*started;
    return nothing;
}

static void *caller(void *seed)
{
    unsigned state = (unsigned)(uintptr_t)seed;
    Frame *frame = malloc(sizeof(Frame));
    for (int k = 0; k < calls; k++) {
        int64_t extent0 = 1 + rand_r(&state) % 64, extent1 = 1 + rand_r(&state) % 64;
        int64_t unit = rand_r(&state) % 3 ? 100000 : 10;  // picoseconds as estimated: shared, or too short for that
        int64_t workers = 1 + rand_r(&state) % WORKERS;
        *frame = (Frame){.width = extent1};
        pthread_mutex_lock(&lock);
        int status = launch(piece, frame, extent0, extent1, unit, 1 + k % 3, 1 + k % 5, 7 + k % 60, workers);
        pthread_mutex_unlock(&lock);
        int64_t total = 0;
        for (int w = 0; w < WORKERS; w++)
            total += frame->scratch[w][0];
        for (int64_t i = 0; i < extent0 * extent1; i++)
            if (frame->counts[i] != 1) {
                printf("element %ld of call %d was computed %d times\n", (long)i, k, frame->counts[i]);
                exit(1);
            }
        if (status || total != extent0 * extent1) {
            printf("call %d ended with status %d after %ld elements\n", k, status, (long)total);
            exit(1);
        }
        if (k % 50 == 0)
            usleep(300);  // workers fall asleep
    }
    free(frame);
    return NULL;
}

int main(int count, char **given)
{
    pthread_t threads[CALLERS];
    calls = count > 1 ? atoi(given[1]) : 100;
    *(int64_t *)(pool + POOL_THREADS) = WORKERS;
    set(POOL_SYSCALL, syscall), set(POOL_CLOCK, clock_gettime);
    set(POOL_CALL, start), set(POOL_STARTER, pool), set(POOL_DROP, drop);
    set(POOL_SAVE, save), set(POOL_RESTORE, restore), set(POOL_SIGNALS, signals);
    for (uintptr_t k = 0; k < CALLERS; k++)
        pthread_create(&threads[k], NULL, caller, (void *)(k + 1));
    for (int k = 0; k < CALLERS; k++)
        pthread_join(threads[k], NULL);
    puts("done");
    fflush(stdout);
    _exit(0);  // workers wait for ever
}
