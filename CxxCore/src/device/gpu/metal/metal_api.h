// The part of Metal that the Metal backend uses, under metal-cpp's names and with its signatures and values. We declare
// it ourselves, because a copy or a submodule of metal-cpp would reach every client of the package;
// Tools/checks/metal_types.sh compares the two.
#pragma once

#include "device/gpu/metal/foundation.h"

// Provided by the framework; the caller owns the results.
extern "C" void* MTLCreateSystemDefaultDevice(void);
extern "C" void* MTLCopyAllDevices(void);  // an array, on macOS

namespace MTL {

enum DataType : NS::UInteger { DataTypeFloat = 3, DataTypeInt = 29, DataTypeUInt = 33, DataTypeBool = 53 };
enum LanguageVersion : NS::UInteger { LanguageVersion3_1 = 196609, LanguageVersion4_0 = 262144 };
enum GPUFamily : NS::Integer { GPUFamilyApple7 = 1007, GPUFamilyApple10 = 1010, GPUFamilyMetal4 = 5002 };
enum DispatchType : NS::UInteger { DispatchTypeSerial = 0, DispatchTypeConcurrent = 1 };
using BarrierScope = NS::UInteger;
constexpr BarrierScope BarrierScopeBuffers = 1;
using PipelineOption = NS::UInteger;
constexpr PipelineOption PipelineOptionNone = 0, PipelineOptionFailOnBinaryArchiveMiss = 4;
using ResourceOptions = NS::UInteger;
constexpr ResourceOptions ResourceStorageModeShared = 0, ResourceHazardTrackingModeUntracked = 256;
enum CommandBufferStatus : NS::UInteger { CommandBufferStatusCompleted = 4, CommandBufferStatusError = 5 };
enum CommandBufferError : NS::UInteger { CommandBufferErrorTimeout = 2, CommandBufferErrorOutOfMemory = 8 };
using CommandBufferErrorOption = NS::UInteger;
constexpr CommandBufferErrorOption CommandBufferErrorOptionEncoderExecutionStatus = 1;
class ComputePipelineReflection;
using AutoreleasedComputePipelineReflection = ComputePipelineReflection*;

struct Size {
  static Size Make(NS::UInteger width, NS::UInteger height, NS::UInteger depth) { return {width, height, depth}; }
  NS::UInteger width, height, depth;
};

class Buffer : public NS::Object {
 public:
  void* contents() { PAGODA_SEND(void*, "contents"); }
  NS::UInteger length() const { PAGODA_SEND(NS::UInteger, "length"); }
  void setLabel(const NS::String* label) { PAGODA_SEND(void, "setLabel:", label); }
};

class CompileOptions : public NS::Object {
 public:
  static CompileOptions* alloc() { PAGODA_SEND_TO_CLASS(CompileOptions*, "MTLCompileOptions", "alloc"); }
  CompileOptions* init() { PAGODA_SEND(CompileOptions*, "init"); }
  void setFastMathEnabled(bool fastMathEnabled) { PAGODA_SEND(void, "setFastMathEnabled:", fastMathEnabled); }
  // MTLMathModeSafe is 0, MTLMathFloatingPointFunctionsPrecise is 1. Systems before macOS 15 and iOS 18 have the switch
  // above instead, which covers both.
  void setMathMode(NS::Integer mathMode) { PAGODA_SEND(void, "setMathMode:", mathMode); }
  void setMathFloatingPointFunctions(NS::Integer functions) {
    PAGODA_SEND(void, "setMathFloatingPointFunctions:", functions);
  }
  void setLanguageVersion(LanguageVersion languageVersion) {
    PAGODA_SEND(void, "setLanguageVersion:", languageVersion);
  }
};

class FunctionConstantValues : public NS::Object {
 public:
  static FunctionConstantValues* alloc() {
    PAGODA_SEND_TO_CLASS(FunctionConstantValues*, "MTLFunctionConstantValues", "alloc");
  }
  FunctionConstantValues* init() { PAGODA_SEND(FunctionConstantValues*, "init"); }
  void setConstantValue(const void* value, DataType type, NS::UInteger index) {
    PAGODA_SEND(void, "setConstantValue:type:atIndex:", value, type, index);
  }
};

class Function : public NS::Object {};

class Library : public NS::Object {
 public:
  Function* newFunction(const NS::String* name, const FunctionConstantValues* constantValues, NS::Error** error) {
    PAGODA_SEND(Function*, "newFunctionWithName:constantValues:error:", name, constantValues, error);
  }
};

class ComputePipelineDescriptor : public NS::Object {
 public:
  static ComputePipelineDescriptor* alloc() {
    PAGODA_SEND_TO_CLASS(ComputePipelineDescriptor*, "MTLComputePipelineDescriptor", "alloc");
  }
  ComputePipelineDescriptor* init() { PAGODA_SEND(ComputePipelineDescriptor*, "init"); }
  void setLabel(const NS::String* label) { PAGODA_SEND(void, "setLabel:", label); }
  void setComputeFunction(const Function* computeFunction) {
    PAGODA_SEND(void, "setComputeFunction:", computeFunction);
  }
  void setMaxTotalThreadsPerThreadgroup(NS::UInteger maxTotalThreadsPerThreadgroup) {
    PAGODA_SEND(void, "setMaxTotalThreadsPerThreadgroup:", maxTotalThreadsPerThreadgroup);
  }
  void setBinaryArchives(const NS::Array* binaryArchives) { PAGODA_SEND(void, "setBinaryArchives:", binaryArchives); }
};

class ComputePipelineState : public NS::Object {
 public:
  NS::UInteger maxTotalThreadsPerThreadgroup() const { PAGODA_SEND(NS::UInteger, "maxTotalThreadsPerThreadgroup"); }
  NS::UInteger threadExecutionWidth() const { PAGODA_SEND(NS::UInteger, "threadExecutionWidth"); }
};

class BinaryArchiveDescriptor : public NS::Object {
 public:
  static BinaryArchiveDescriptor* alloc() {
    PAGODA_SEND_TO_CLASS(BinaryArchiveDescriptor*, "MTLBinaryArchiveDescriptor", "alloc");
  }
  BinaryArchiveDescriptor* init() { PAGODA_SEND(BinaryArchiveDescriptor*, "init"); }
  void setUrl(const NS::URL* url) { PAGODA_SEND(void, "setUrl:", url); }
};

class BinaryArchive : public NS::Object {
 public:
  bool addComputePipelineFunctions(const ComputePipelineDescriptor* descriptor, NS::Error** error) {
    PAGODA_SEND(bool, "addComputePipelineFunctionsWithDescriptor:error:", descriptor, error);
  }
  bool serializeToURL(const NS::URL* url, NS::Error** error) { PAGODA_SEND(bool, "serializeToURL:error:", url, error); }
};

class Fence : public NS::Object {};

class ComputeCommandEncoder : public NS::Object {
 public:
  void setComputePipelineState(const ComputePipelineState* state) {
    PAGODA_SEND(void, "setComputePipelineState:", state);
  }
  void setBytes(const void* bytes, NS::UInteger length, NS::UInteger index) {
    PAGODA_SEND(void, "setBytes:length:atIndex:", bytes, length, index);
  }
  void setBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger index) {
    PAGODA_SEND(void, "setBuffer:offset:atIndex:", buffer, offset, index);
  }
  void dispatchThreadgroups(Size threadgroupsPerGrid, Size threadsPerThreadgroup) {
    PAGODA_SEND(void, "dispatchThreadgroups:threadsPerThreadgroup:", threadgroupsPerGrid, threadsPerThreadgroup);
  }
  void updateFence(const Fence* fence) { PAGODA_SEND(void, "updateFence:", fence); }
  void waitForFence(const Fence* fence) { PAGODA_SEND(void, "waitForFence:", fence); }
  void memoryBarrier(BarrierScope scope) { PAGODA_SEND(void, "memoryBarrierWithScope:", scope); }
  void endEncoding() { PAGODA_SEND(void, "endEncoding"); }
};

class CommandBufferDescriptor : public NS::Object {
 public:
  static CommandBufferDescriptor* alloc() {
    PAGODA_SEND_TO_CLASS(CommandBufferDescriptor*, "MTLCommandBufferDescriptor", "alloc");
  }
  CommandBufferDescriptor* init() { PAGODA_SEND(CommandBufferDescriptor*, "init"); }
  void setRetainedReferences(bool retainedReferences) {
    PAGODA_SEND(void, "setRetainedReferences:", retainedReferences);
  }
  void setErrorOptions(CommandBufferErrorOption errorOptions) { PAGODA_SEND(void, "setErrorOptions:", errorOptions); }
};

class Event : public NS::Object {};

class SharedEvent : public Event {
 public:
  bool waitUntilSignaledValue(uint64_t value, uint64_t milliseconds) {
    PAGODA_SEND(bool, "waitUntilSignaledValue:timeoutMS:", value, milliseconds);
  }
};

class CommandBuffer : public NS::Object {
 public:
  void encodeSignalEvent(const Event* event, uint64_t value) {
    PAGODA_SEND(void, "encodeSignalEvent:value:", event, value);
  }
  ComputeCommandEncoder* computeCommandEncoder(DispatchType dispatchType) {
    PAGODA_SEND(ComputeCommandEncoder*, "computeCommandEncoderWithDispatchType:", dispatchType);
  }
  void commit() { PAGODA_SEND(void, "commit"); }
  void waitUntilCompleted() { PAGODA_SEND(void, "waitUntilCompleted"); }
  double GPUStartTime() const { PAGODA_SEND(double, "GPUStartTime"); }  // seconds
  double GPUEndTime() const { PAGODA_SEND(double, "GPUEndTime"); }
  CommandBufferStatus status() const { PAGODA_SEND(CommandBufferStatus, "status"); }
  NS::Error* error() const { PAGODA_SEND(NS::Error*, "error"); }
};

// Since macOS 15 and iOS 18, as the calls that take one.
class ResidencySetDescriptor : public NS::Object {
 public:
  static ResidencySetDescriptor* alloc() {
    PAGODA_SEND_TO_CLASS(ResidencySetDescriptor*, "MTLResidencySetDescriptor", "alloc");
  }
  ResidencySetDescriptor* init() { PAGODA_SEND(ResidencySetDescriptor*, "init"); }
};

class ResidencySet : public NS::Object {
 public:
  void addAllocation(const Buffer* allocation) { PAGODA_SEND(void, "addAllocation:", allocation); }
  void removeAllocation(const Buffer* allocation) { PAGODA_SEND(void, "removeAllocation:", allocation); }
  void commit() { PAGODA_SEND(void, "commit"); }
  void requestResidency() { PAGODA_SEND(void, "requestResidency"); }
  void endResidency() { PAGODA_SEND(void, "endResidency"); }
};

class CommandQueue : public NS::Object {
 public:
  CommandBuffer* commandBuffer(const CommandBufferDescriptor* descriptor) {
    PAGODA_SEND(CommandBuffer*, "commandBufferWithDescriptor:", descriptor);
  }
  void addResidencySet(const ResidencySet* residencySet) { PAGODA_SEND(void, "addResidencySet:", residencySet); }
};

class Device : public NS::Object {
 public:
  NS::String* name() const { PAGODA_SEND(NS::String*, "name"); }
  uint64_t recommendedMaxWorkingSetSize() const { PAGODA_SEND(uint64_t, "recommendedMaxWorkingSetSize"); }
  NS::UInteger currentAllocatedSize() const { PAGODA_SEND(NS::UInteger, "currentAllocatedSize"); }
  NS::UInteger maxBufferLength() const { PAGODA_SEND(NS::UInteger, "maxBufferLength"); }
  bool supportsFamily(GPUFamily gpuFamily) { PAGODA_SEND(bool, "supportsFamily:", gpuFamily); }
  SharedEvent* newSharedEvent() { PAGODA_SEND(SharedEvent*, "newSharedEvent"); }
  Fence* newFence() { PAGODA_SEND(Fence*, "newFence"); }
  ResidencySet* newResidencySet(const ResidencySetDescriptor* desc, NS::Error** error) {
    PAGODA_SEND(ResidencySet*, "newResidencySetWithDescriptor:error:", desc, error);
  }
  CommandQueue* newCommandQueue() { PAGODA_SEND(CommandQueue*, "newCommandQueue"); }
  Buffer* newBuffer(NS::UInteger length, ResourceOptions options) {
    PAGODA_SEND(Buffer*, "newBufferWithLength:options:", length, options);
  }
  // Over the caller's pages, which must outlive it. `deallocator` is an Objective-C block; we pass none.
  Buffer* newBuffer(const void* pages, NS::UInteger length, ResourceOptions options, const void* deallocator) {
    PAGODA_SEND(Buffer*, "newBufferWithBytesNoCopy:length:options:deallocator:", pages, length, options, deallocator);
  }
  Library* newLibrary(const NS::String* source, const CompileOptions* options, NS::Error** error) {
    PAGODA_SEND(Library*, "newLibraryWithSource:options:error:", source, options, error);
  }
  ComputePipelineState* newComputePipelineState(const ComputePipelineDescriptor* descriptor, PipelineOption options,
                                                const AutoreleasedComputePipelineReflection* reflection,
                                                NS::Error** error) {
    PAGODA_SEND(ComputePipelineState*, "newComputePipelineStateWithDescriptor:options:reflection:error:", descriptor,
                options, reflection, error);
  }
  BinaryArchive* newBinaryArchive(const BinaryArchiveDescriptor* descriptor, NS::Error** error) {
    PAGODA_SEND(BinaryArchive*, "newBinaryArchiveWithDescriptor:error:", descriptor, error);
  }
};

inline Device* CreateSystemDefaultDevice() { return static_cast<Device*>(MTLCreateSystemDefaultDevice()); }
inline NS::Array* CopyAllDevices() { return static_cast<NS::Array*>(MTLCopyAllDevices()); }

}  // namespace MTL
