// /health and /metrics report what does not work, and the log reports when that changes.
import Foundation
import PagodaKit
import PagodaMini
import PagodaServer
import Testing

@Suite(.ownThread) struct HealthTests {
  @Test func a_failed_device_is_no_good_health() {
    var health = Health()
    #expect(health.statusCode == 200 && health.json["status"] == .string("ok") && health.json["error"] == nil)
    let good = health
    health.fault = "the GPU is gone"
    #expect(health.statusCode == 503 && health.json["status"] == .string("failed"))
    #expect(health.json["error"] == .string("the GPU is gone"))
    #expect(health.changes(since: good).count == 1 && health.changes(since: good)[0].contains("the GPU is gone"))
    #expect(health.changes(since: health).isEmpty && good.changes(since: health) == ["the engine works again"])
  }

  @Test func a_folder_that_cannot_be_written_is_reported_everywhere() async throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    try Data("not a folder".utf8).write(to: URL(fileURLWithPath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    var options = EngineOptions()
    options.prefixCacheFolder = path
    options.hostCacheBytes = 1 << 20
    let engine = try await Engine.load(.mini, options: options)
    let lines = Box<[String]>([])
    var serverOptions = ServerOptions()
    serverOptions.port = 0
    serverOptions.eventLog = { lines.value += [$0] }
    let server = try Server.start(engine, options: serverOptions)
    let response = try server.get("/health")
    let disk = JSONValue.parse(response.text)?["prefix_cache_disk"]
    #expect(response.status == 200 && disk?["writing"] == .bool(false) && disk?["reason"] == .string("is not a folder"))
    let metrics = try server.get("/metrics").text
    #expect(metrics.contains("pagoda:prefix_disk_writing{model_name=\"pagoda\"} 0\n"))
    #expect(metrics.contains("pagoda:prefix_disk_paused_info{model_name=\"pagoda\",reason=\"is not a folder\"} 1\n"))
    #expect(metrics.contains("pagoda:engine_failed{model_name=\"pagoda\"} 0\n"))
    #expect(metrics.contains("pagoda:prefix_host_max_bytes{model_name=\"pagoda\"} 1048576\n"))
    #expect(metrics.contains("pagoda:prefix_host_hits_total{model_name=\"pagoda\"} 0\n"))
    await server.shutDown()
    await engine.shutDown()
    #expect(lines.value == ["prefixes are not written to disk for now: is not a folder"])
  }
}
