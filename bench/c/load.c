/* Clients that cost nearly nothing: one thread, epoll, so that the server is what is measured.
 *
 *   load key=value ...        prints "ready" when every client is, and one JSON object at the end
 *
 *   port=N path=P session=S   where to; the token is in $BENCH_TOKEN
 *   clients=N never=K         N that read, and K more that attach and never read again
 *   last=N previews=0|1       attach with the newest N events; 0: with all of them
 *   turns=N | upto=SEQ        when a client has seen enough
 *   acks=N stage=WORD         one client sends N messages in turn; how long until each reply
 *   hold=1                    stay until stdin ends
 *   plain=1                   not our protocol: frames with "seq":N from 0 on, to a "result"
 *   timeout=S
 *
 * A fast server that is wrong must not pass: events have to come as 1, 2, 3 ..., and each
 * preview of an item has to begin where the last one ended, or at 0. What does not is counted
 * as "disorder". Latency is taken from the times that fake_cli writes into texts.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ITEMS 32
#define READ_BYTES 262144

struct item {
    unsigned long long id;
    long upto;
};

struct client {
    int fd, never, attached, caught_up, done, closed, turns;
    unsigned char *buffer;
    size_t size, room;
    long long seq;
    long events, deltas, items, latest_item;
    struct item item[ITEMS];
};

static struct client *clients;
static int count, never, plain, wanted_turns, acks;
static long long wanted_seq, last;
static long disorder, closed, frames, replies;
static long long bytes, began, ended, replied;
static const char *session = "", *stage = "written", *path = "/";
static int port;
static unsigned *latency;
static size_t latencies, latency_room;

static long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void die(const char *why, const char *detail)
{
    fprintf(stderr, "load: %s: %.300s\n", why, detail);
    exit(2);
}

static void add_latency(long long ns)
{
    if (latencies == latency_room) {
        latency_room = latency_room ? latency_room * 2 : 1 << 16;
        latency = realloc(latency, latency_room * sizeof *latency);
    }
    latency[latencies++] = ns > 0 ? ns / 1000 : 0;
}

static int by_size(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return (x > y) - (x < y);
}

static unsigned percentile(double part)
{
    return latencies ? latency[(size_t)((latencies - 1) * part)] : 0;
}

static const char *find(const char *from, const char *end, const char *what)
{
    return from < end ? memmem(from, end - from, what, strlen(what)) : 0;
}

/* ---- to the server ------------------------------------------------------------------------- */

static void put(struct client *c, const void *data, size_t size)
{
    const char *at = data;
    while (size) {
        ssize_t done = write(c->fd, at, size);
        if (done < 0 && errno == EAGAIN) {
            struct pollfd ready = {c->fd, POLLOUT, 0};
            poll(&ready, 1, 1000);
            continue;
        }
        if (done <= 0)
            die("write", strerror(errno));
        at += done;
        size -= done;
    }
}

/* Masked with zeros: that is a mask like any other. */
static void put_frame(struct client *c, int opcode, const char *text, size_t size)
{
    char frame[8192];
    size_t head = 2;
    if (size > sizeof frame - 8)
        die("too long to say", text);
    frame[0] = 0x80 | opcode;
    if (size < 126) {
        frame[1] = 0x80 | size;
    } else {
        frame[1] = 0x80 | 126;
        frame[2] = size >> 8;
        frame[3] = size;
        head = 4;
    }
    memset(frame + head, 0, 4);
    memcpy(frame + head + 4, text, size);
    put(c, frame, head + 4 + size);
}

static void attach(struct client *c, int previews)
{
    char text[4096];
    const char *token = getenv("BENCH_TOKEN");
    int size = snprintf(text, sizeof text, "{\"type\":\"auth\",\"token\":\"%s\"}", token ? token : "");
    put_frame(c, 1, text, size);
    size = snprintf(text, sizeof text,
        "{\"type\":\"hello\",\"proto\":1,\"client\":\"load\"}\n{\"type\":\"attach\",\"ref\":\"attach\","
        "\"session\":\"%s\",\"last\":%lld,\"previews\":%s}",
        session, last, previews ? "true" : "false");
    put_frame(c, 1, text, size);
}

static void submit(struct client *c)
{
    char text[1024];
    int size = snprintf(text, sizeof text,
        "{\"type\":\"submit\",\"ref\":\"submit\",\"session\":\"%s\",\"request\":\"ack-%d-%ld\",\"command\":"
        "{\"type\":\"send_input\",\"content\":[{\"type\":\"text\",\"text\":\"BENCH deltas 1 1\"}]},"
        "\"until\":\"%s\"}", session, getpid(), replies, stage);
    replied = now_ns();
    put_frame(c, 1, text, size);
}

/* ---- from the server ----------------------------------------------------------------------- */

/* The times in a text; of those that were there before, only how many they are matters. */
static void read_stamps(const char *at, const char *end, long skip, long long now)
{
    while ((at = at < end ? memchr(at, '@', end - at) : 0)) {
        char digits[20];
        if (end - at < 21 || at[20] != ';') {
            at++;
            continue;
        }
        memcpy(digits, at + 1, 19);
        digits[19] = 0;
        at += 21;
        long long then = atoll(digits);
        if (!then)
            continue;
        if (!began || then < began)
            began = then;
        if (skip-- <= 0 && !acks)
            add_latency(now - then);
    }
}

static void on_event(struct client *c, const char *at, const char *end, long long now)
{
    const char *number = find(at, end, "\"seq\":"), *kind;
    long long seq = number ? atoll(number + 6) : -1;
    if (seq != c->seq + 1)
        disorder++;
    c->seq = seq;
    c->events++;
    kind = find(at, end, "\"event\":{\"type\":\"");
    if (!began) {
        read_stamps(at, end, 0, now);
        latencies = 0;
    }
    if (kind && !strncmp(kind + 17, "turn.ended\"", 11))
        c->turns++;
}

static long field(const char *at, const char *end, const char *name)
{
    const char *found = find(at, end, name);
    return found ? atol(found + strlen(name)) : -1;
}

static void on_preview(struct client *c, const char *at, const char *end, long long now)
{
    const char *name = find(at, end, "\"item\":\""), *text = find(at, end, "\"text\":\"");
    long since = field(at, end, "\"since\":"), upto = field(at, end, "\"upto\":");
    unsigned long long id = 1469598103934665603ULL;
    struct item *known = 0;
    if (!name || !text || since < 0) {
        disorder++;
        return;
    }
    for (const char *p = name + 8; *p != '"'; p++)
        id = (id ^ (unsigned char)*p) * 1099511628211ULL;
    for (int i = 0; i < ITEMS; i++)
        if (c->item[i].id == id)
            known = &c->item[i];
    if (!known) {
        known = &c->item[c->items++ % ITEMS];
        known->id = id;
        known->upto = 0;
    }
    if (since != known->upto && (since || upto < known->upto))
        disorder++;
    read_stamps(text, end, known->upto - since, now);
    c->deltas += upto - known->upto;
    known->upto = upto;
}

static void on_reply(struct client *c, const char *at, const char *end)
{
    if (find(at, end, "\"error\":\""))
        die("refused", at);
    if (find(at, end, "\"ref\":\"submit\"")) {
        add_latency(now_ns() - replied);
        replies++;
        replied = 0;
    } else {
        long long head = field(at, end, "\"head\":");
        c->seq = last && head > last ? head - last : 0;
        c->attached = 1;
    }
}

static void on_message(struct client *c, const char *at, const char *end, long long now)
{
    if (end - at < 16)
        return;
    if (!strncmp(at, "{\"type\":\"preview\"", 17))
        on_preview(c, at, end, now);
    else if (!strncmp(at, "{\"type\":\"event\"", 15))
        on_event(c, at, end, now);
    else if (!strncmp(at, "{\"type\":\"reply\"", 15))
        on_reply(c, at, end);
    else if (!strncmp(at, "{\"type\":\"view\"", 14))
        c->caught_up = 1;
    else if (!strncmp(at, "{\"type\":\"error\"", 15) || !strncmp(at, "{\"type\":\"detached\"", 18))
        die("the gateway said", at);
}

static void on_plain(struct client *c, const char *at, const char *end, long long now)
{
    long long seq = field(at, end, "\"seq\":");
    if (seq != c->seq + 1)
        disorder++;
    c->seq = seq;
    c->events++;
    if (find(at, end, "\"type\":\"stream_event\""))
        read_stamps(at, end, 0, now);
    else if (find(at, end, "\"type\":\"result\""))
        c->turns++;
    else if (!began)
        read_stamps(at, end, 0, now);
}

static void on_payload(struct client *c, const char *at, const char *end, long long now)
{
    if (plain) {
        on_plain(c, at, end, now);
        return;
    }
    while (at < end) {
        const char *newline = memchr(at, '\n', end - at);
        on_message(c, at, newline ? newline : end, now);
        at = newline ? newline + 1 : end;
    }
}

/* Takes every whole frame out of what has arrived. */
static void on_bytes(struct client *c, long long now)
{
    size_t at = 0;
    while (c->size - at >= 2) {
        unsigned char *frame = c->buffer + at;
        size_t head = 2, size = frame[1] & 127;
        if (size == 126) {
            if (c->size - at < 4)
                break;
            size = frame[2] << 8 | frame[3];
            head = 4;
        } else if (size == 127) {
            if (c->size - at < 10)
                break;
            size = 0;
            for (int i = 2; i < 10; i++)
                size = size << 8 | frame[i];
            head = 10;
        }
        if (c->size - at < head + size)
            break;
        frames++;
        int opcode = frame[0] & 15;
        if (opcode == 9)
            put_frame(c, 10, (char *)frame + head, size);
        else if (opcode == 8)
            closed++;
        else if (opcode <= 2)
            on_payload(c, (char *)frame + head, (char *)frame + head + size, now);
        at += head + size;
    }
    memmove(c->buffer, c->buffer + at, c->size - at);
    c->size -= at;
}

static int finished(struct client *c)
{
    if (c->closed)
        return 1;
    if (acks)
        return replies >= acks && c->turns >= acks;
    if (wanted_seq)
        return c->seq >= wanted_seq;
    return wanted_turns && c->turns >= wanted_turns;
}

static void on_readable(struct client *c)
{
    for (int i = 0; i < 4; i++) {
        if (c->room - c->size < READ_BYTES) {
            c->room = c->room * 2 + READ_BYTES;
            c->buffer = realloc(c->buffer, c->room);
        }
        ssize_t got = read(c->fd, c->buffer + c->size, c->room - c->size);
        if (got < 0 && errno == EAGAIN)
            return;
        if (got <= 0) {
            c->closed = 1;
            closed++;
            close(c->fd);
            return;
        }
        bytes += got;
        c->size += got;
        on_bytes(c, now_ns());
    }
}

/* ---- coming in ----------------------------------------------------------------------------- */

static void upgrade(struct client *c)
{
    char text[1024];
    int size = snprintf(text, sizeof text,
        "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n", path, port);
    put(c, text, size);
    size = 0;
    do { /* byte by byte: what comes behind the head is not ours to read yet */
        if (size == sizeof text - 1 || read(c->fd, text + size, 1) != 1)
            die("upgrade", text);
        text[++size] = 0;
    } while (size < 4 || strcmp(text + size - 4, "\r\n\r\n"));
    if (strncmp(text, "HTTP/1.1 101", 12))
        die("upgrade", text);
}

static void come_in(struct client *c, int previews)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    int on = 1, little = 4096;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->never)
        setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
    if (connect(c->fd, (struct sockaddr *)&to, sizeof to))
        die("connect", strerror(errno));
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    c->seq = plain ? -1 : 0;
    upgrade(c);
    if (!plain)
        attach(c, previews);
    fcntl(c->fd, F_SETFL, O_NONBLOCK);
}

static int all(int (*is_so)(struct client *))
{
    for (int i = 0; i < count; i++)
        if (!clients[i].never && !is_so(&clients[i]))
            return 0;
    return 1;
}

static int is_ready(struct client *c)
{
    return plain || c->closed || (c->attached && c->caught_up);
}

static int is_done(struct client *c)
{
    if (!c->done && finished(c)) {
        c->done = 1;
        ended = now_ns();
    }
    return c->done;
}

static void turn_loop(int poller, int wait_ms)
{
    struct epoll_event ready[256];
    int found = epoll_wait(poller, ready, 256, wait_ms);
    for (int i = 0; i < found; i++) {
        struct client *c = &clients[ready[i].data.u32];
        on_readable(c);
        is_done(c);
    }
}

static void report(long long came_in)
{
    struct rusage used;
    double events = 0, deltas = 0;
    int unfinished = 0;
    for (int i = 0; i < count; i++) {
        events += clients[i].events;
        deltas += clients[i].deltas;
        unfinished += !clients[i].never && !clients[i].done;
    }
    getrusage(RUSAGE_SELF, &used);
    qsort(latency, latencies, sizeof *latency, by_size);
    double cpu = used.ru_utime.tv_sec + used.ru_stime.tv_sec
        + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    double took = (ended - (wanted_seq ? came_in : began)) / 1e9;
    printf("{\"elapsed_s\":%.6f,\"events\":%.0f,\"deltas\":%.0f,\"frames\":%ld,\"bytes\":%lld,"
           "\"disorder\":%ld,\"closed\":%ld,\"unfinished\":%d,\"cpu_s\":%.6f,\"samples\":%zu,"
           "\"p50_us\":%u,\"p99_us\":%u,\"max_us\":%u}\n",
        took, events, deltas, frames, bytes, disorder, closed, unfinished, cpu, latencies,
        percentile(.5), percentile(.99), percentile(1));
}

static const char *option(int n, char **arguments, const char *name, const char *usual)
{
    size_t size = strlen(name);
    for (int i = 1; i < n; i++)
        if (!strncmp(arguments[i], name, size) && arguments[i][size] == '=')
            return arguments[i] + size + 1;
    return usual;
}

int main(int n, char **arguments)
{
    port = atoi(option(n, arguments, "port", "0"));
    path = option(n, arguments, "path", path);
    session = option(n, arguments, "session", session);
    stage = option(n, arguments, "stage", stage);
    last = atoll(option(n, arguments, "last", "0"));
    never = atoi(option(n, arguments, "never", "0"));
    count = atoi(option(n, arguments, "clients", "1")) + never;
    plain = atoi(option(n, arguments, "plain", "0"));
    wanted_turns = atoi(option(n, arguments, "turns", "0"));
    wanted_seq = atoll(option(n, arguments, "upto", "0"));
    acks = atoi(option(n, arguments, "acks", "0"));
    int hold = atoi(option(n, arguments, "hold", "0"));
    int previews = atoi(option(n, arguments, "previews", "1"));
    long long deadline = now_ns() + atoll(option(n, arguments, "timeout", "30")) * 1000000000LL;
    int poller = epoll_create1(EPOLL_CLOEXEC);
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    clients = calloc(count, sizeof *clients);
    long long came_in = now_ns();
    for (int i = 0; i < count; i++) {
        struct client *c = &clients[i];
        c->never = i >= count - never;
        come_in(c, previews);
        struct epoll_event reads = {.events = EPOLLIN, .data.u32 = i};
        if (!c->never)
            epoll_ctl(poller, EPOLL_CTL_ADD, c->fd, &reads);
        turn_loop(poller, 0);
    }
    while (!all(is_ready) && now_ns() < deadline)
        turn_loop(poller, 100);
    puts("ready");
    fflush(stdout);
    while (hold && now_ns() < deadline) {
        struct pollfd in = {0, POLLIN, 0};
        turn_loop(poller, 50);
        if (poll(&in, 1, 0) > 0)
            return 0;
    }
    for (int i = 0; i < count; i++)
        clients[i].turns = 0; /* what was in the log before does not count */
    began = latencies = 0;
    while (!all(is_done) && now_ns() < deadline) {
        struct client *c = &clients[0];
        if (acks && !replied && replies < acks && c->turns >= replies)
            submit(c);
        turn_loop(poller, 100);
    }
    report(came_in);
    if (never) { /* it stays, so that what it costs can be seen */
        struct pollfd in = {0, POLLIN, 0};
        fflush(stdout);
        poll(&in, 1, 10000);
    }
    return 0;
}
