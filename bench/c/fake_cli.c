/* A stand-in for the agent's CLI that writes as fast as its pipe takes it, one line a write.
 *
 *   fake_cli --version              what our driver asks first
 *   fake_cli ...                    stream-json on stdin and stdout; any other argument is passed over
 *   fake_cli --emit "deltas 1000"   one turn on stdout and the end, for programs that only read
 *
 * A message that holds "BENCH <what> <numbers>" says what the turn is made of:
 *
 *   deltas N PER     N pieces of text, PER to an answer
 *   paced N RATE     N pieces of text, RATE a second by the clock, each with the time of its write
 *   durable N RATE   N lines that each become an event: tools that start, and their results;
 *                    RATE a second by the clock, or all at once
 *   mixed N          N answers as they really are: text, a tool, its input in pieces, its result
 *   prose N RATE AT  N pieces of one answer in markdown: AT of them at once, then RATE a second
 *   story N          N answers in markdown with a tool each: a read, a command or an edit by turns
 *   big MB           a tool's result in one line of MB million bytes
 *
 * A time is "@" and nineteen digits of CLOCK_MONOTONIC and ";". The first piece of every turn
 * carries one, so that whoever reads it knows when the turn began.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TAIL "\"session_id\":\"6f2c1f0e-7d0b-4a53-9b1e-0d4c8a1be001\",\"parent_tool_use_id\":null," \
             "\"uuid\":\"b7a1c0de-0000-4000-8000-%012lx\"}\n"
#define EVENT "{\"type\":\"stream_event\",\"event\":%s," TAIL
#define USAGE "\"usage\":{\"input_tokens\":3,\"cache_read_input_tokens\":%lu,\"output_tokens\":7}"
#define HEAD "\"type\":\"message\",\"role\":\"assistant\",\"model\":\"fake\""

#define SAID 200000 /* of one answer: what is longer is said in pieces only */

static char line[SAID + 4096];
static char said[SAID + 64];
static size_t said_size;
static unsigned long written;
static unsigned long tools, answers;
static long long due;

static long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void put(const char *data, size_t size)
{
    while (size) {
        ssize_t done = write(1, data, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            exit(1);
        data += done;
        size -= done;
    }
}

static void event(const char *what)
{
    put(line, snprintf(line, sizeof line, EVENT, what, ++written));
}

static void delta(const char *text)
{
    if (said_size < SAID)
        said_size += snprintf(said + said_size, 64, "%s", text);
    put(line, snprintf(line, sizeof line,
        "{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\",\"index\":0,"
        "\"delta\":{\"type\":\"text_delta\",\"text\":\"%s\"}}," TAIL, text, ++written));
}

static const char *stamp(void)
{
    static char text[32];
    snprintf(text, sizeof text, "@%019lld;", now_ns());
    return text;
}

static void start_answer(void)
{
    char what[512];
    answers++;
    snprintf(what, sizeof what,
        "{\"type\":\"message_start\",\"message\":{\"id\":\"msg_%lu_%d\"," HEAD ",\"content\":[],"
        USAGE "}}", answers, getpid(), answers);
    event(what);
}

static void start_text(void)
{
    event("{\"type\":\"content_block_start\",\"index\":0,"
          "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}");
}

static void whole(const char *blocks)
{
    put(line, snprintf(line, sizeof line,
        "{\"type\":\"assistant\",\"message\":{\"id\":\"msg_%lu_%d\"," HEAD ",\"content\":[%s],"
        "\"stop_reason\":null," USAGE "}," TAIL,
        answers, getpid(), blocks, answers, ++written));
}

/* The answer again, whole: that is what the CLI stands by. */
static void say_whole(void)
{
    static char block[SAID + 256];
    if (said_size < SAID) {
        snprintf(block, sizeof block, "{\"type\":\"text\",\"text\":\"%s\"}", said);
        whole(block);
    }
    said_size = 0;
}

static void end_text(void)
{
    say_whole();
    event("{\"type\":\"content_block_stop\",\"index\":0}");
}

static void end_answer(void)
{
    char what[256];
    snprintf(what, sizeof what,
        "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}," USAGE "}", answers);
    event(what);
    event("{\"type\":\"message_stop\"}");
}

static void use_tool(const char *path)
{
    char block[256];
    snprintf(block, sizeof block,
        "{\"type\":\"tool_use\",\"id\":\"toolu_%lu_%d\",\"name\":\"Read\","
        "\"input\":{\"file_path\":\"/project/src/%s\"}}", tools, getpid(), path);
    whole(block);
}

static void tool_result(const char *content)
{
    put(line, snprintf(line, sizeof line,
        "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"tool_use_id\":"
        "\"toolu_%lu_%d\",\"type\":\"tool_result\",\"content\":\"%s\",\"is_error\":false}]}," TAIL,
        tools, getpid(), content, ++written));
}

static void deltas(long count, long per)
{
    for (long done = 0; done < count;) {
        start_answer();
        start_text();
        for (long i = 0; i < per && done < count; i++)
            delta(done++ ? " word" : stamp());
        end_text();
        end_answer();
    }
}

/* By the clock and not by what was answered: a slow reader makes nothing late but itself. */
static void wait_turn(long rate)
{
    struct timespec at;
    if (!rate)
        return;
    if (!due)
        due = now_ns();
    due += 1000000000LL / rate;
    at.tv_sec = due / 1000000000LL;
    at.tv_nsec = due % 1000000000LL;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, 0) == EINTR)
        ;
}

static void paced(long count, long rate)
{
    start_answer();
    start_text();
    for (long i = 0; i < count; i++) {
        wait_turn(rate);
        delta(stamp());
    }
    end_text();
    end_answer();
}

static void durable(long count, long rate)
{
    for (long i = 0; i < count; i += 2) {
        tools++;
        answers++;
        wait_turn(rate);
        use_tool(i ? "module.py" : stamp());
        wait_turn(rate);
        tool_result("1\\tdef answer() -> int:\\n2\\t    return 42\\n");
    }
}

static void mixed(long count)
{
    char block[512], body[4096] = "";
    for (int i = 0; i < 40; i++)
        strcat(body, "12\\t    value = compute(value)\\n");
    for (long i = 0; i < count; i++) {
        start_answer();
        start_text();
        for (int k = 0; k < 80; k++)
            delta(i + k ? " word" : stamp());
        end_text();
        tools++;
        snprintf(block, sizeof block,
            "{\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\","
            "\"id\":\"toolu_%lu_%d\",\"name\":\"Read\",\"input\":{}}}", tools, getpid());
        event(block);
        for (int k = 0; k < 25; k++)
            event("{\"type\":\"content_block_delta\",\"index\":1,\"delta\":"
                  "{\"type\":\"input_json_delta\",\"partial_json\":\" \"}}");
        use_tool("module.py");
        event("{\"type\":\"content_block_stop\",\"index\":1}");
        end_answer();
        tool_result(body);
    }
}

/* Markdown as agents write it, as it stands in JSON. A piece ends behind a space or a new line. */
static const char sample[] =
    "## What was found\\n\\nThe queue is read by **two workers**, and neither of them knows of the "
    "other. When `drain()` is called while a batch is on its way, the second one takes the *same* "
    "rows again; see [the notes](https://example.org/notes) for how that came to be.\\n\\n"
    "1. Rows are chosen by their age, without a lock.\\n"
    "2. They are marked only after they were sent.\\n"
    "3. A crash between the two sends them **twice**.\\n\\n"
    "```python\\n"
    "def drain(queue: Queue, limit: int = 100) -> int:\\n"
    "    # one at a time: whoever holds the lock sends\\n"
    "    with queue.lock:\\n"
    "        rows = queue.oldest(limit)\\n"
    "        for row in rows:\\n"
    "            send(row.target, row.body, key=f'{row.id}')\\n"
    "        queue.mark(rows, state='sent')\\n"
    "    return len(rows)\\n"
    "```\\n\\n"
    "| step | before | after |\\n|---|---|---|\\n"
    "| choose | no lock | `queue.lock` |\\n| send | twice | once |\\n\\n"
    "> It is slower by one round trip, and nobody will notice.\\n\\n"
    "- [x] The lock is taken in `src/queue.py:41`\\n"
    "- [ ] The old rows are still there, and have to be looked at by hand\\n\\n";
static size_t place;

static const char *piece(void)
{
    static char text[64];
    size_t size = 0;
    while (size < 60) {
        if (!sample[place])
            place = 0;
        if (sample[place] == '\\')
            text[size++] = sample[place++];
        text[size++] = sample[place++];
        if (text[size - 1] == ' ' || (size > 1 && text[size - 2] == '\\'))
            break;
    }
    text[size] = 0;
    return text;
}

static void prose(long count, long rate, long at_once)
{
    start_answer();
    start_text();
    for (long i = 0; i < count; i++) {
        if (i >= at_once)
            wait_turn(rate);
        delta(piece());
    }
    end_text();
    end_answer();
}

static void tell(int pieces)
{
    start_answer();
    start_text();
    for (int i = 0; i < pieces; i++)
        delta(piece());
    end_text();
    end_answer();
}

static void call(const char *name, const char *input)
{
    char block[512];
    snprintf(block, sizeof block,
        "{\"type\":\"tool_use\",\"id\":\"toolu_%lu_%d\",\"name\":\"%s\",\"input\":%s}",
        tools, getpid(), name, input);
    whole(block);
}

static void edited(void)
{
    put(line, snprintf(line, sizeof line,
        "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"tool_use_id\":"
        "\"toolu_%lu_%d\",\"type\":\"tool_result\",\"content\":\"done\",\"is_error\":false}]},"
        "\"tool_use_result\":{\"filePath\":\"/project/src/queue.py\",\"structuredPatch\":[{"
        "\"oldStart\":40,\"oldLines\":4,\"newStart\":40,\"newLines\":5,\"lines\":["
        "\" def drain(queue):\",\"-    rows = queue.oldest()\",\"+    with queue.lock:\","
        "\"+        rows = queue.oldest()\",\"     return rows\",\" \"]}]}," TAIL,
        tools, getpid(), ++written));
}

static void story(long count)
{
    for (long i = 0; i < count; i++) {
        tell(40 + i % 7 * 20);
        tools++;
        answers++;
        if (i % 3 == 0) {
            call("Read", "{\"file_path\":\"/project/src/queue.py\"}");
            tool_result("40\\tdef drain(queue):\\n41\\t    rows = queue.oldest()\\n42\\t    return rows\\n");
        } else if (i % 3 == 1) {
            call("Bash", "{\"command\":\"pytest -q tests/test_queue.py\"}");
            tool_result("............ [100%]\\n12 passed in 0.31s");
        } else {
            call("Edit", "{\"file_path\":\"/project/src/queue.py\",\"old_string\":\"    rows = "
                 "queue.oldest()\",\"new_string\":\"    with queue.lock:\\n        rows = queue.oldest()\"}");
            edited();
        }
    }
}

static void big(long megabytes)
{
    size_t size = megabytes * 1000000, head;
    char *text = malloc(size + 4096);
    tools++;
    answers++;
    use_tool("large.txt");
    head = sprintf(text,
        "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"tool_use_id\":"
        "\"toolu_%lu_%d\",\"type\":\"tool_result\",\"is_error\":false,\"content\":\"%s",
        tools, getpid(), stamp());
    memset(text + head, 'x', size - head);
    for (size_t at = head + 79; at + 2 < size; at += 80)
        memcpy(text + at, "\\n", 2);
    size += sprintf(text + size, "\"}]}," TAIL, ++written);
    put(text, size);
    free(text);
}

static void turn(const char *what)
{
    char name[16] = "";
    long first = 1, second = 0, third = 0;
    sscanf(what, "%15s %ld %ld %ld", name, &first, &second, &third);
    due = 0;
    put(line, snprintf(line, sizeof line,
        "{\"type\":\"system\",\"subtype\":\"init\",\"model\":\"fake\",\"cwd\":\"/project\",\"tools\":[],"
        "\"permissionMode\":\"default\"," TAIL, ++written));
    if (!strcmp(name, "paced"))
        paced(first, second ? second : 100);
    else if (!strcmp(name, "durable"))
        durable(first, second);
    else if (!strcmp(name, "mixed"))
        mixed(first);
    else if (!strcmp(name, "prose"))
        prose(first, second, third);
    else if (!strcmp(name, "story"))
        story(first);
    else if (!strcmp(name, "big"))
        big(first);
    else
        deltas(first, second ? second : 1000);
    put(line, snprintf(line, sizeof line,
        "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"duration_ms\":1,"
        "\"duration_api_ms\":1,\"num_turns\":1,\"result\":\"done\",\"total_cost_usd\":0.0," USAGE "," TAIL,
        answers, ++written));
}

/* The user's message comes back as the CLI says it was taken: whole, and marked as a replay. */
static void echo(const char *message, size_t size)
{
    put("{\"isReplay\":true,", 17);
    put(message + 1, size - 1);
}

static void answer_control(const char *message)
{
    char id[128] = "";
    const char *at = strstr(message, "\"request_id\":");
    if (at)
        sscanf(at + 13, " \"%127[^\"]", id); /* others put a space after the colon */
    put(line, snprintf(line, sizeof line,
        "{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"%s\","
        "\"response\":{\"commands\":[],\"output_style\":\"default\"}}}\n", id));
}

int main(int count, char **arguments)
{
    char *message = 0;
    size_t room = 0;
    ssize_t size;
    for (int i = 1; i < count; i++) {
        if (!strcmp(arguments[i], "--version")) {
            puts("2.1.325 (fake)");
            return 0;
        }
        if (!strcmp(arguments[i], "--emit") && i + 1 < count) {
            turn(arguments[i + 1]);
            return 0;
        }
    }
    while ((size = getline(&message, &room, stdin)) > 0) {
        if (strstr(message, "\"control_request\"")) {
            answer_control(message);
        } else if (strstr(message, "\"user\"")) {
            const char *what = strstr(message, "BENCH ");
            if (strstr(message, "\"uuid\""))
                echo(message, size);
            turn(what ? what + 6 : "deltas 1 1");
        }
    }
    return 0;
}
