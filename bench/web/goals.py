"""What is measured of the page, and what it should be.

Rows without a goal are there to be compared: they tell how busy the machine was.
"""

from __future__ import annotations

from bench.goals import Row

ROWS = (
    Row("first_js_kib", "scripts of the first view, gzip", "KiB", "build", at_most=200),
    Row("css_kib", "all styles, gzip", "KiB", "build", at_most=20),
    Row("fonts_kib", "fonts", "KiB", "build", at_most=60),
    Row("all_js_kib", "all scripts but grammars, gzip", "KiB", "build", at_most=350),
    Row("vite_s", "the page built", "s", "build", at_most=3),
    Row("vite_cpu_s", "... CPU of it", "s", "build"),
    Row("unit_s", "its unit tests", "s", "build", at_most=10),
    Row("unit_cpu_s", "... CPU of them", "s", "build"),
    Row("loop_ms", "a loop that only computes", "ms", "first"),
    Row("plain_paint_ms", "first paint of the plain login page, cold", "ms", "first"),
    Row("paint_ms", "first contentful paint of the board, cold", "ms", "first", at_most=500),
    Row("interactive_ms", "the board is there and quiet", "ms", "first", at_most=700),
    Row("blocking_ms", "total blocking time of that", "ms", "first", at_most=100),
    Row("cold_ms", "10,000 events opened by address, cold", "ms", "opened", at_most=700),
    Row("cold_cpu_ms", "... CPU of the page for it", "ms", "opened"),
    Row("inside_ms", "... opened from the board", "ms", "opened", at_most=250),
    Row("inside_cpu_ms", "... CPU of the page for it", "ms", "opened"),
    Row("switch_ms", "back to a session that was open", "ms", "opened", at_most=100),
    Row("switch_cpu_ms", "... CPU of the page for it", "ms", "opened"),
    Row("blank_dropped", "an empty page, frames dropped", "%", "stream"),
    Row("stream_dropped", "200 deltas/s on 20k tokens, frames dropped", "%", "stream", at_most=1),
    Row("stream_longs", "... long tasks", "", "stream", at_most=0),
    Row("script_ms", "... script in a second, CPU", "ms", "stream", at_most=80),
    Row("task_ms", "... all of the main thread in a second, CPU", "ms", "stream"),
    Row("late_p95_ms", "... received until painted, p95", "ms", "stream", at_most=34),
    Row("inp_ms", "... a key until painted, p98", "ms", "stream", at_most=100),
    Row("blank_slow_dropped", "an empty page at 1/4 CPU, frames dropped", "%", "slow"),
    Row("slow_dropped", "the stream at 1/4 CPU, frames dropped", "%", "slow", at_most=10),
    Row("slow_longest_ms", "... longest task", "ms", "slow", at_most=100),
    Row("slow_inp_ms", "... a key until painted, p98", "ms", "slow", at_most=200),
    Row("blank_board_dropped", "an empty page while ten stream, dropped", "%", "board"),
    Row("board_dropped", "the board while ten stream, frames dropped", "%", "board", at_most=2),
    Row("jumps", "60 steps up, jumps of more than 4 px", "", "scroll", at_most=0),
    Row("stream_jumps", "... while it streams", "", "scroll", at_most=0),
    Row("heap_one_mib", "heap with all of 10,000 events", "MiB", "memory", at_most=40),
    Row("heap_ten_mib", "heap with ten such sessions", "MiB", "memory", at_most=120),
    Row("nodes", "most nodes of the transcript", "", "memory", at_most=40_000),
    Row("caught_up_ms", "connected again until it streams in sight", "ms", "cuts", at_most=300),
    Row("caught_up_worst_ms", "... the longest of 20", "ms", "cuts"),
    Row("fast_points", "Lighthouse, worst of 4 pages: performance", "", "rated", at_least=95),
    Row("access_points", "... accessibility", "", "rated", at_least=100),
    Row("practice_points", "... best practices", "", "rated", at_least=100),
)
