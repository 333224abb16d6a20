-- A POST of the file that the variable REQUEST names; at the end, one line of what was seen.
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
wrk.body = io.open(os.getenv("REQUEST")):read("a")

function done(summary, latency)
    local errors = summary.errors
    io.write(string.format("rps %.0f p50_us %d p99_us %d errors %d\n",
        summary.requests / (summary.duration / 1e6), latency:percentile(50), latency:percentile(99),
        errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
