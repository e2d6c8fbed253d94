#include "harness/load/units.h"

void units_duration(char *out, size_t size, uint64_t duration_us)
{
    double value = (double)duration_us;
    const char *unit = "us";
    int digits = 0;
    if (duration_us >= 1000000) {
        value /= 1e6;
        unit = "s";
    } else if (duration_us >= 1000) {
        value /= 1e3;
        unit = "ms";
    }
    if (duration_us >= 1000)
        digits = value < 10 ? 2 : value < 100 ? 1 : 0;
    snprintf(out, size, "%.*f %s", digits, value, unit);
}

void units_latency_json(struct json *json, const struct histogram *histogram)
{
    json_count(json, "p50_us", histogram_percentile(histogram, 50));
    json_count(json, "p90_us", histogram_percentile(histogram, 90));
    json_count(json, "p99_us", histogram_percentile(histogram, 99));
    json_count(json, "p999_us", histogram_percentile(histogram, 99.9));
    json_count(json, "max_us", histogram->max_us);
}
