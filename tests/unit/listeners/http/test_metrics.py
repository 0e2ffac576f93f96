from __future__ import annotations

from flybridge.listeners.http.metrics import Metrics, family, process_families


def test_a_family_is_written_with_its_kind_and_its_samples() -> None:
    text = family("a_total", "counter", "What it is.", [("", {"x": "1"}, 2), ("_sum", {}, 0.5)])
    assert text == (
        '# HELP a_total What it is.\n# TYPE a_total counter\na_total{x="1"} 2\na_total_sum 0.5\n'
    )


def test_no_label_breaks_a_line() -> None:
    text = family("a", "gauge", "x", [("", {"v": 'a"b\\c\nd'}, 1)])
    assert text.splitlines()[2] == 'a{v="a\\"b\\\\c\\nd"} 1'


def test_requests_are_counted_by_route_and_status() -> None:
    metrics = Metrics()
    metrics.request("GET", "/x", 200, 0.5)
    metrics.request("GET", "/x", 200, 0.25)
    metrics.request("GET", "/x", 404, 0.25)
    metrics.refused("wrong_host")
    text = "".join(metrics.families())
    assert 'flybridge_http_requests_total{method="GET",route="/x",status="200"} 2' in text
    assert 'flybridge_http_request_seconds_sum{route="/x"} 1.0' in text
    assert 'flybridge_http_request_seconds_count{route="/x"} 3' in text
    assert 'flybridge_gate_refused_total{code="wrong_host"} 1' in text


def test_the_process_says_what_it_takes() -> None:
    text = "".join(process_families())
    assert "process_cpu_seconds_total " in text
    assert "process_resident_memory_bytes " in text
