// Declarations of the part of metal-cpp's Metal that the Metal backend uses, to check types where there is no Apple
// system. Names and types are metal-cpp's; nothing is defined.
#pragma once

#include "Foundation/Foundation.hpp"

namespace MTL {

enum DataType : NS::UInteger { DataTypeFloat = 3, DataTypeInt = 29, DataTypeUInt = 33, DataTypeBool = 53 };
enum LanguageVersion : NS::UInteger { LanguageVersion3_1 = 196609 };
enum GPUFamily : NS::Integer { GPUFamilyApple7 = 1007 };
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
  static Size Make(NS::UInteger width, NS::UInteger height, NS::UInteger depth);
  NS::UInteger width, height, depth;
};

class Buffer : public NS::Object {
 public:
  void* contents();
  NS::UInteger length() const;
  void setLabel(const NS::String* label);
};

class CompileOptions : public NS::Object {
 public:
  static CompileOptions* alloc();
  CompileOptions* init();
  void setFastMathEnabled(bool fastMathEnabled);
  void setLanguageVersion(LanguageVersion languageVersion);
};

class FunctionConstantValues : public NS::Object {
 public:
  static FunctionConstantValues* alloc();
  FunctionConstantValues* init();
  void setConstantValue(const void* value, DataType type, NS::UInteger index);
};

class Function : public NS::Object {};

class Library : public NS::Object {
 public:
  Function* newFunction(const NS::String* name, const FunctionConstantValues* constantValues, NS::Error** error);
};

class ComputePipelineDescriptor : public NS::Object {
 public:
  static ComputePipelineDescriptor* alloc();
  ComputePipelineDescriptor* init();
  void setLabel(const NS::String* label);
  void setComputeFunction(const Function* computeFunction);
  void setMaxTotalThreadsPerThreadgroup(NS::UInteger maxTotalThreadsPerThreadgroup);
  void setBinaryArchives(const NS::Array* binaryArchives);
};

class ComputePipelineState : public NS::Object {
 public:
  NS::UInteger maxTotalThreadsPerThreadgroup() const;
  NS::UInteger threadExecutionWidth() const;
};

class BinaryArchiveDescriptor : public NS::Object {
 public:
  static BinaryArchiveDescriptor* alloc();
  BinaryArchiveDescriptor* init();
  void setUrl(const NS::URL* url);
};

class BinaryArchive : public NS::Object {
 public:
  bool addComputePipelineFunctions(const ComputePipelineDescriptor* descriptor, NS::Error** error);
  bool serializeToURL(const NS::URL* url, NS::Error** error);
};

class ComputeCommandEncoder : public NS::Object {
 public:
  void setComputePipelineState(const ComputePipelineState* state);
  void setBytes(const void* bytes, NS::UInteger length, NS::UInteger index);
  void setBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger index);
  void dispatchThreadgroups(Size threadgroupsPerGrid, Size threadsPerThreadgroup);
  void memoryBarrier(BarrierScope scope);
  void endEncoding();
};

class CommandBufferDescriptor : public NS::Object {
 public:
  static CommandBufferDescriptor* alloc();
  CommandBufferDescriptor* init();
  void setErrorOptions(CommandBufferErrorOption errorOptions);
};

class CommandBuffer : public NS::Object {
 public:
  ComputeCommandEncoder* computeCommandEncoder(DispatchType dispatchType);
  void commit();
  void waitUntilCompleted();
  CommandBufferStatus status() const;
  NS::Error* error() const;
};

class CommandQueue : public NS::Object {
 public:
  CommandBuffer* commandBuffer(const CommandBufferDescriptor* descriptor);
};

class Device : public NS::Object {
 public:
  NS::String* name() const;
  uint64_t recommendedMaxWorkingSetSize() const;
  NS::UInteger currentAllocatedSize() const;
  NS::UInteger maxBufferLength() const;
  bool supportsFamily(GPUFamily gpuFamily);
  CommandQueue* newCommandQueue();
  Buffer* newBuffer(NS::UInteger length, ResourceOptions options);
  Library* newLibrary(const NS::String* source, const CompileOptions* options, NS::Error** error);
  ComputePipelineState* newComputePipelineState(const ComputePipelineDescriptor* descriptor, PipelineOption options,
                                                const AutoreleasedComputePipelineReflection* reflection,
                                                NS::Error** error);
  BinaryArchive* newBinaryArchive(const BinaryArchiveDescriptor* descriptor, NS::Error** error);
};

Device* CreateSystemDefaultDevice();

}  // namespace MTL
