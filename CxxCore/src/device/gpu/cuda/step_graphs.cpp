// Creating, updating and replaying graphs.
#include "device/gpu/cuda/step_graphs.h"

#include <algorithm>
#include <new>

namespace pagoda::device::gpu::cuda {
namespace {

// The driver copies the values when a node is created or changed.
struct NodeArgs {
  explicit NodeArgs(Launch& launch) {
    for (uint32_t i = 0; i < launch.num_params; ++i) values[i] = launch.params.data() + launch.param_offsets[i];
    node.function = launch.function;
    node.grid_x = launch.groups.x, node.grid_y = launch.groups.y, node.grid_z = launch.groups.z;
    node.block_x = launch.threads.x, node.block_y = launch.threads.y, node.block_z = launch.threads.z;
    node.shared_bytes = launch.shared_bytes;
    node.params = values.data();
  }
  std::array<void*, Launch::kMaxParams> values;
  KernelNode node;
};

// Whether one graph can run both: the same kernels in the same order. Grids and values may differ.
bool same_kind(const std::vector<Launch>& a, const std::vector<Launch>& b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Launch& x, const Launch& y) { return x.function == y.function && x.after == y.after; });
}

}  // namespace

Status StepGraphs::submit() noexcept {
  last_ = nullptr;
  if (step_.empty()) return ok_status();
  ++time_;
  Status status;
  try {
    Graph* graph = find();
    if (graph != nullptr) {
      ++counts_.replayed;
      status = update(*graph);
    } else {
      status = instantiate();
      graph = &graphs_.back();
    }
    if (status.is_ok()) {
      graph->used = time_;
      status = cuda_status(driver_, driver_.cuGraphLaunch(graph->exec, stream_), "starting a step");
      last_ = graph;
    }
  } catch (const std::bad_alloc&) {
    status = make_error(StatusCode::out_of_memory, "cuda: no host memory for the launches of a step");
  }
  if (!status.is_ok()) clear();  // a partially updated graph must not run again
  step_.clear();
  return status;
}

Status StepGraphs::repeat() noexcept {
  ++counts_.repeated;
  Status status = cuda_status(driver_, driver_.cuGraphLaunch(last_->exec, stream_), "starting a step");
  if (!status.is_ok()) clear();
  return status;
}

StepGraphs::Graph* StepGraphs::find() noexcept {
  for (Graph& graph : graphs_)
    if (same_kind(graph.launches, step_)) return &graph;
  return nullptr;
}

Status StepGraphs::instantiate() {
  if (graphs_.size() >= kMaxGraphs) {
    const auto oldest = std::min_element(graphs_.begin(), graphs_.end(),
                                         [](const Graph& a, const Graph& b) { return a.used < b.used; });
    destroy(*oldest);
    graphs_.erase(oldest);
  }
  Graph& made = graphs_.emplace_back();
  PAGODA_RETURN_IF_ERROR(cuda_status(driver_, driver_.cuGraphCreate(&made.graph, 0), "making a graph"));
  for (Launch& launch : step_) PAGODA_RETURN_IF_ERROR(add_node(made, launch));
  PAGODA_RETURN_IF_ERROR(
      cuda_status(driver_, driver_.cuGraphInstantiateWithFlags(&made.exec, made.graph, 0), "instantiating a graph"));
  made.launches = step_;
  ++counts_.instantiated;
  return ok_status();
}

// A launch that waits for exactly one other does so inside its kernel: by then it has started and read its weights.
Status StepGraphs::add_node(Graph& graph, Launch& launch) {
  const bool overlaps = overlaps_ && launch.begins_early && launch.after.end - launch.after.first == 1;
  const std::span<const Handle> after =
      std::span(graph.nodes).subspan(launch.after.first, launch.after.end - launch.after.first);
  NodeArgs args(launch);
  Handle node = nullptr;
  PAGODA_RETURN_IF_ERROR(cuda_status(
      driver_,
      driver_.cuGraphAddKernelNode_v2(&node, graph.graph, after.data(), overlaps ? 0 : after.size(), &args.node),
      "adding a launch to a graph"));
  if (overlaps)
    PAGODA_RETURN_IF_ERROR(
        cuda_status(driver_, driver_.cuGraphAddDependencies_v2(graph.graph, after.data(), &node, &kProgrammaticEdge, 1),
                    "adding an edge to a graph"));
  graph.nodes.push_back(node);
  return ok_status();
}

Status StepGraphs::update(Graph& graph) noexcept {
  for (size_t i = 0; i < step_.size(); ++i) {
    if (graph.launches[i] == step_[i]) continue;
    graph.launches[i] = step_[i];
    NodeArgs args(graph.launches[i]);
    PAGODA_RETURN_IF_ERROR(
        cuda_status(driver_, driver_.cuGraphExecKernelNodeSetParams_v2(graph.exec, graph.nodes[i], &args.node),
                    "changing a launch of a graph"));
    ++counts_.nodes_updated;
  }
  return ok_status();
}

void StepGraphs::destroy(Graph& graph) noexcept {
  if (graph.exec != nullptr) driver_.cuGraphExecDestroy(graph.exec);
  if (graph.graph != nullptr) driver_.cuGraphDestroy(graph.graph);
}

void StepGraphs::clear() noexcept {
  last_ = nullptr;
  for (Graph& graph : graphs_) destroy(graph);
  graphs_.clear();
}

}  // namespace pagoda::device::gpu::cuda
