// SPDX-License-Identifier: Apache-2.0
#include "records/result_json.hpp"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <bandgate/errors.hpp>

#include "records/result_fixture.hpp"
#include "records/schema.hpp"
#include "records/temporary_folder.hpp"

namespace bandgate {
namespace {

using nlohmann::json;
using testing::bare_result;
using testing::error_of;
using testing::full_result;
using ::testing::HasSubstr;
using testing::temporary_folder;

constexpr char const* full_text =
    R"({"schema":"bandgate.result/1","run":{"id":"01939b2e-5f4b-7cc3-98c4-dc0c0c07398f",)"
    R"("group_id":"group","started":"2026-11-29T02:10:03.120Z","duration_s":1.5,"attempt":2,)"
    R"("host":"host","node":"node","boot_id":"boot","kernel":"kernel",)"
    R"("kernel_module_flavour":"open","gsp_version":"gsp","fabric_manager":"fabric","bios":"bios",)"
    R"("product":"product","container_image":"image","scheduler_job":"job","ci_system":"ci",)"
    R"("ci_job":"ci job","ci_commit":"commit","labels":{"rack":"7"},"tool_version":"0.1.0",)"
    R"("tool_build":"build"},"device":{"backend":"cuda","name":"NVIDIA H200","uuid":"GPU-1",)"
    R"("pci_address":"0000:1b:00.0","pci_device":"10de:2335","pci_subsystem":"10de:18bf",)"
    R"("board_part":"part","serial":"serial","memory_bytes":150754820096,"bus_width_bits":6144,)"
    R"("memory_clock_mhz":3201.5,"peak_bytes_per_second":4814300000000.0,"processors":132,)"
    R"("last_level_cache_bytes":62914560,"compute_capability":"9.0","ecc":true,)"
    R"("mig_profile":"1g.18gb","mig_parent":"GPU-2","virtualization":"none","power_limit_w":700.5,)"
    R"("power_limit_default_w":701.5,"vbios":"vbios","driver_version":"580.159.04",)"
    R"("runtime_version":"13.0","persistence_mode":"on","compute_mode":"default","numa_node":-1,)"
    R"("cpu_model":"cpu","sockets":2,"numa_nodes":4,"dimm_mts":4800},"probe":{"name":"read",)"
    R"("version":3,"parameters":{"buffer":"auto","window":18446744073709551615},)"
    R"("shape":{"threads":256},"byte_rule":"bytes read","ceiling":"dram","directions":1,)"
    R"("lower_is_better":false,)"
    R"("expected_spread":0.02},"measurement":{"unit":"B/s","median":4600000000000.0,)"
    R"("peak":4700000000000.0,"p05":4500000000000.0,"p95":4650000000000.0,"sd":1250000000.0,)"
    R"("cv":0.00025,"slope":-0.001,"unsettled":true,"samples":[4500000000000.0,)"
    R"(4600000000000.0,4700000000000.0],"iterations":5,"bytes_per_pass":4294967296,)"
    R"("warm_up_s":0.75,"verified":true,"more":[{"name":"ratio to copy","unit":"1","value":1.1}],)"
    R"("series":{"axis":"time","step":1.0,"points":[{"at":0.0,"value":4500000000000.0,)"
    R"("sm_clock_mhz":1980.0,"temperature_c":41.0,"power_w":null}]},)"
    R"("worst":4500000000000.0,"drop":-0.125},)"
    R"("failure":null,"skip_reason":"","notes":["note"],"health":{"source":"nvml","idle":{)"
    R"("ecc":{"state":"ok","value":true,"why":""},)"
    R"("fan":{"state":"not-supported","value":null,"why":""},)"
    R"("p_state":{"state":"ok","value":"P0","why":""}},)"
    R"("load":{"sm_clock_mhz":{"state":"ok","value":1980.0,"why":""}},)"
    R"("change":{"replays":{"state":"unavailable","value":null,"why":"no library"}},)"
    R"("processes":[{"pid":42,"name":"other","memory_bytes":1024,"active":true}]},)"
    R"("verdict":{"status":"regression","unstable":true,"baselines":[{)"
    R"("file":"built-in:nvidia-h200.json","entry":"/entries/0","kind":"measured",)"
    R"("statistic":"median","generic":true,"card":true,"reference":4620000000000.0,)"
    R"("lower":4570000000000.0,"upper":4660000000000.0,"ratio":0.99}],)"
    R"("reasons":[{"code":"below-bound","sentence":"It is slow."}],"next_step":"next"}})";

json document_of(result const& r) {
  return parse_strict(to_json(r).dump(), "test");
}
result round_trip(result const& r) {
  return result_from_json(document_of(r), "test");
}

TEST(ResultJson, WritesEveryMember) {
  EXPECT_EQ(to_json(full_result()).dump(), full_text);
}

TEST(ResultJson, ReadsEveryMemberBack) {
  EXPECT_EQ(to_json(round_trip(full_result())).dump(), full_text);
}

TEST(ResultJson, ReadsAResultFromBeforeThereWereSeries) {
  auto document = document_of(full_result());
  for (char const* later : {"series", "worst", "drop"}) document["measurement"].erase(later);
  auto const r = result_from_json(document, "test");
  EXPECT_FALSE(r.measurement->series || r.measurement->worst || r.measurement->drop);
  EXPECT_EQ(r.measurement->median, 4.6e12);
}

TEST(ResultJson, ReadsTypesBack) {
  auto const r = round_trip(full_result());
  EXPECT_EQ(std::get<std::uint64_t>(r.probe.parameters.at("window")), UINT64_MAX);
  EXPECT_EQ(std::get<std::string>(r.probe.parameters.at("buffer")), "auto");
  EXPECT_EQ(std::get<bool>(r.health.idle.at("ecc").value), true);
  EXPECT_EQ(std::get<std::string>(r.health.idle.at("p_state").value), "P0");
  EXPECT_EQ(std::get<double>(r.health.load.at("sm_clock_mhz").value), 1980.0);
  EXPECT_EQ(r.health.idle.at("fan").status, health_field::state::not_supported);
  EXPECT_EQ(r.health.change.at("replays").status, health_field::state::unavailable);
  EXPECT_EQ(r.device.numa_node, -1);
}

TEST(ResultJson, KeepsWhatIsNotKnownAsNull) {
  auto const document = document_of(bare_result());
  EXPECT_TRUE(document["device"]["memory_bytes"].is_null());
  EXPECT_TRUE(document["device"]["ecc"].is_null());
  EXPECT_TRUE(document["measurement"].is_null());
  EXPECT_EQ(document["device"]["uuid"], "");
  auto const r = round_trip(bare_result());
  EXPECT_EQ(r.device.memory_bytes, std::nullopt);
  EXPECT_EQ(r.measurement, std::nullopt);
  EXPECT_EQ(r.failure, failure::crashed);
  EXPECT_EQ(r.failure_message, "killed by signal 9");
}

TEST(ResultJson, TellsTimesFromRates) {
  auto r = full_result();
  r.measurement->is_time = true;
  EXPECT_EQ(document_of(r)["measurement"]["unit"], "s");
  EXPECT_TRUE(round_trip(r).measurement->is_time);
  EXPECT_FALSE(round_trip(full_result()).measurement->is_time);
}

TEST(ResultJson, KeepsEveryStatusAndFailure) {
  auto r = full_result();
  for (auto const s :
       {status::pass, status::improved, status::regression, status::error, status::inconclusive,
        status::no_baseline, status::skipped, status::measured}) {
    r.verdict.status = s;
    EXPECT_EQ(round_trip(r).verdict.status, s);
  }
  r = bare_result();
  for (auto const f : {failure::wrong_result, failure::above_ceiling, failure::zero_elapsed,
                       failure::not_proportional, failure::device_lost, failure::device_missing,
                       failure::device_failed, failure::exclusively_held, failure::out_of_memory,
                       failure::timed_out, failure::crashed}) {
    r.failure = f;
    EXPECT_EQ(round_trip(r).failure, f);
  }
}

TEST(ResultJson, KeepsDoublesToTheLastBit) {
  auto r = full_result();
  r.measurement->samples = {0.1, 1.0 / 3.0, 4.8143e12 / 7.0, 5e-324, 1.7976931348623157e308};
  EXPECT_EQ(round_trip(r).measurement->samples, r.measurement->samples);
}

TEST(ResultJson, NeverWritesWhatIsNotFinite) {
  auto const nan = std::numeric_limits<double>::quiet_NaN();
  auto const infinity = std::numeric_limits<double>::infinity();
  auto r = full_result();
  r.measurement->cv = nan;
  r.measurement->slope = -infinity;
  r.measurement->more[0].value = infinity;
  r.device.power_limit_w = nan;
  r.health.load["sm_clock_mhz"].value = nan;
  auto const document = document_of(r);
  EXPECT_TRUE(document["measurement"]["cv"].is_null());
  EXPECT_TRUE(document["measurement"]["slope"].is_null());
  EXPECT_TRUE(document["measurement"]["more"][0]["value"].is_null());
  EXPECT_TRUE(document["device"]["power_limit_w"].is_null());
  EXPECT_EQ(
      document["health"]["load"]["sm_clock_mhz"],
      json({{"state", "unavailable"}, {"value", nullptr}, {"why", "was not a finite number"}}));
  EXPECT_TRUE(std::isnan(round_trip(r).measurement->more[0].value));
}

TEST(ResultJson, RefusesANumberThatMustBeThere) {
  for (double const bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    auto r = full_result();
    r.measurement->median = bad;
    EXPECT_THAT(error_of([&] { round_trip(r); }), HasSubstr("test: /measurement/median: "));
  }
}

TEST(ResultJson, KeepsForeignNames) {
  auto r = full_result();
  std::string const name = "a\"b\\c<d>\n\x1b[31m/(TM)é \t";
  r.device.name = name;
  r.run.labels = {{"\"key\"", "line\nbreak"}};
  EXPECT_EQ(round_trip(r).device.name, name);
  EXPECT_EQ(round_trip(r).run.labels, r.run.labels);
  auto const text = to_json(r).dump();
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(ResultJson, ReplacesBytesThatAreNoUtf8) {
  auto r = full_result();
  r.device.name = "GPU \xff\xfe, cut \xe2\x82";
  r.run.labels = {{"k\xff", "v\xc0"}};
  r.failure_message = "\xff";
  EXPECT_EQ(document_of(r)["device"]["name"], "GPU \xEF\xBF\xBD\xEF\xBF\xBD, cut \xEF\xBF\xBD");
  EXPECT_EQ(round_trip(r).run.labels.begin()->first, "k\xEF\xBF\xBD");
}

TEST(ResultJson, HasExactlyOneOutcome) {
  auto const reason =
      "test: A result has exactly one of a measurement, a failure and a skip_reason.";
  auto r = full_result();
  r.failure = failure::crashed;
  EXPECT_EQ(error_of([&] { round_trip(r); }), reason);
  r.failure.reset();
  r.measurement.reset();
  EXPECT_EQ(error_of([&] { round_trip(r); }), reason);
  r.skip_reason = "one GPU only";
  EXPECT_EQ(round_trip(r).skip_reason, "one GPU only");
}

TEST(ResultJson, RefusesWhatBreaksTheSchema) {
  auto const with = [](char const* pointer, json value) {
    auto document = document_of(full_result());
    document[json::json_pointer(pointer)] = std::move(value);
    return error_of([&] { result_from_json(document, "r.json"); });
  };
  EXPECT_EQ(with("/schema", "bandgate.result/2"),
            "r.json: /schema: \"bandgate.result/2\" is not \"bandgate.result/1\"");
  EXPECT_EQ(with("/run/id", "../../etc/passwd"),
            "r.json: /run/id: \"../../etc/passwd\" is not a UUIDv7, such as "
            "01939b2e-5f4b-7cc3-98c4-dc0c0c07398f");
  EXPECT_EQ(with("/measurement/samples", json::array()),
            "r.json: /measurement/samples: has 0 items, fewer than 1");
  EXPECT_EQ(with("/measurement/samples/1", "2%"),
            "r.json: /measurement/samples/1: \"2%\" is not a number");
  EXPECT_EQ(with("/health/idle/ecc/state", "unavailable"),
            "r.json: /health/idle/ecc: A field that is ok has a value; any other has null.");
  EXPECT_EQ(with("/health/idle/ecc/value", nullptr),
            "r.json: /health/idle/ecc: A field that is ok has a value; any other has null.");
  EXPECT_EQ(with("/run/attempt", 4294967296U),
            "r.json: /run/attempt: 4294967296 is above 4294967295");
  EXPECT_EQ(with("/probe/parameters/window", -1), "r.json: /probe/parameters: -1 is negative");
  EXPECT_EQ(
      with("/device/backend", "rocm"),
      "r.json: /device/backend: \"rocm\" is none of \"cuda\", \"hip\", \"host\", \"scripted\"");
  EXPECT_THAT(with("/device/colour", "red"),
              HasSubstr("r.json: /device/colour: is an unknown key"));
}

TEST(ResultJson, HandsDevicesOver) {
  auto const& device = full_result().device;
  auto const document = json(device_to_json(device));
  EXPECT_EQ(document, document_of(full_result())["device"]);
  EXPECT_EQ(device_to_json(device_from_json(document, "d")).dump(), device_to_json(device).dump());
  EXPECT_THAT(error_of([] { device_from_json(json::array(), "d"); }),
              HasSubstr("d: not a device: "));
  EXPECT_THAT(error_of([&] {
                auto other = document;
                other["name"] = 1;
                device_from_json(other, "d");
              }),
              HasSubstr("d: not a device: "));
}

TEST(ResultJson, ReadsFiles) {
  temporary_folder const folder;
  auto const file = folder.write("r.json", full_text);
  EXPECT_EQ(to_json(read_result(file)).dump(), full_text);
  auto const cut = folder.write("cut.json", std::string(full_text).substr(0, 500));
  EXPECT_THAT(error_of([&] { read_result(cut); }), HasSubstr(cut.string() + ": line 1, column "));
  auto const list = folder.write("list.json", "[]");
  EXPECT_EQ(error_of([&] { read_result(list); }), list.string() + ": an array is not an object");
  auto const empty = folder.write("empty.json", "");
  EXPECT_EQ(error_of([&] { read_result(empty); }),
            empty.string() + ": is empty; it must hold a JSON document");
}

constexpr char const* judged_text =
    R"({"device":{"backend":"cuda"},"probe":{"name":"read","parameters":{}},"measurement":{)"
    R"("unit":"B/s","median":2.0,"peak":3.0,"unsettled":false,"verified":true,"samples":[2.0]}})";

TEST(result_for_judging, needs_only_what_a_verdict_depends_on) {
  auto const r = result_for_judging(json::parse(judged_text), "line 1");
  EXPECT_EQ(r.device.backend, "cuda");
  EXPECT_EQ(r.measurement->peak, 3.0);
  EXPECT_TRUE(r.measurement->verified);
  EXPECT_EQ(r.measurement->worst, std::nullopt);
  EXPECT_EQ(r.run.attempt, 1U);
}

TEST(result_for_judging, reads_a_whole_document_alike) {
  auto const document = json::parse(full_text);
  EXPECT_EQ(to_json(result_for_judging(document, "x")), to_json(result_from_json(document, "x")));
}

TEST(result_for_judging, names_what_is_missing_or_of_another_kind) {
  auto const refused = [](char const* pointer, json const& value) {
    auto document = json::parse(judged_text);
    json::json_pointer const place(pointer);
    if (value.is_discarded())
      document.at(place.parent_pointer()).erase(place.back());
    else
      document[place] = value;
    return error_of([&] { result_for_judging(document, "line 7"); });
  };
  json const gone(json::value_t::discarded);
  for (auto const* pointer :
       {"/device/backend", "/probe/name", "/probe/parameters", "/measurement", "/measurement/unit",
        "/measurement/median", "/measurement/peak", "/measurement/unsettled",
        "/measurement/verified", "/measurement/samples"})
    EXPECT_EQ(refused(pointer, gone),
              std::string("line 7: ") + pointer + ": is missing, and the verdict depends on it");
  EXPECT_THAT(refused("/measurement/unit", "GB/s"), HasSubstr("line 7: /measurement/unit"));
  EXPECT_THAT(refused("/measurement/median", "2000"), HasSubstr("line 7: not a result"));
  EXPECT_EQ(refused("/probe/parameters/span", -1), "line 7: /probe/parameters: -1 is negative");
  EXPECT_THAT(refused("/failure", json::object()), HasSubstr("line 7: not a result"));
  EXPECT_THAT(refused("/health", json{{"load", {{"power_w", json::object()}}}}),
              HasSubstr("line 7: not a result"));
  EXPECT_THAT(refused("/schema", "bandgate.result/2"), HasSubstr("line 7: /schema"));
  EXPECT_THAT(error_of([] { result_for_judging(json::array(), "line 7"); }),
              HasSubstr("line 7: not a result: no object"));
}

}  // namespace
}  // namespace bandgate
