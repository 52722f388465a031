#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Exception.h>
#include <priornet/uncertainty/errors.h>
#include <torch/library.h>
#include <torch/types.h>
#include <torch/version.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Shared by the operators of the Python module, with everything that differs between versions of PyTorch. A kernel is
// registered for CPU and CUDA, where it computes; for Meta, where only shapes are known; and for Autograd.

namespace priornet::python {

using torch::Tensor;
using Tensors = std::vector<Tensor>;
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 6)
using MaybeTensor = std::optional<Tensor>;
using Text = std::string_view;
#else
using MaybeTensor = c10::optional<Tensor>;
using Text = c10::string_view;
#endif

/// The message of the last DataError of this thread: the Python side turns it into an OSError, which PyTorch does not
/// have.
inline std::string& file_error() {
  thread_local std::string message;
  return message;
}

[[noreturn]] inline void throw_value_error(const std::string& message) {
  throw c10::ValueError({__func__, __FILE__, static_cast<uint32_t>(__LINE__)}, message);
}

/// Calls `work`; its exceptions arrive in Python as ValueError (arguments, configurations), OSError (files) or
/// RuntimeError, with their messages.
template <class Work>
auto guarded(const Work& work) {
  try {
    return work();
  } catch (const ArgumentError& error) {
    throw_value_error(error.what());
  } catch (const ConfigError& error) {
    throw_value_error(error.what());
  } catch (const DataError& error) {
    file_error() = error.what();
    throw;
  }
}

/// The same on the device of a tensor, which may be one of several.
template <class Work>
auto guarded_on(const Tensor& tensor, const Work& work) {
  const c10::DeviceGuard device(tensor.device());
  return guarded(work);
}

/// The same if all data came as arguments, so that no file can be at fault.
template <class Work>
auto guarded_values(const Work& work) {
  return guarded([&] {
    try {
      return work();
    } catch (const DataError& error) {
      throw_value_error(error.what());
    }
  });
}

/// While this object lives, this thread records graphs, also in inference mode and inside a kernel, where recording is
/// off.
class RecordingGraphs {
 public:
  RecordingGraphs() : inference_(false), keys_(with_autograd()), mode_(true) {}

  /// A leaf of a graph.
  static Tensor leaf(const Tensor& values) {
    return (values.is_inference() ? values.clone() : values.detach()).requires_grad_();
  }

 private:
  static c10::impl::LocalDispatchKeySet with_autograd() {
    auto keys = c10::impl::tls_local_dispatch_key_set();
    keys.excluded_ = keys.excluded_ - c10::autograd_dispatch_keyset_with_ADInplaceOrView;
    return keys;
  }

  c10::InferenceMode inference_;
  c10::impl::ForceDispatchKeyGuard keys_;
  at::AutoGradMode mode_;
};

/// An operator of this library that other operators call; `Signature` is that of its kernels.
template <class Signature>
c10::TypedOperatorHandle<Signature> operator_named(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

/// Whether a result of the tensor needs a gradient.
inline bool wants_gradient(const Tensor& tensor) { return at::GradMode::is_enabled() && tensor.requires_grad(); }

/// For Meta: one number per row, the rows being dimension `dim` of the logits.
inline Tensor empty_rows(const Tensor& logits, int64_t dim) { return logits.new_empty_symint({logits.sym_size(dim)}); }
inline Tensor empty_rows(const Tensor& logits, int64_t dim, torch::Dtype dtype) {
  return logits.new_empty_symint({logits.sym_size(dim)}, logits.options().dtype(dtype));
}
inline Tensor empty_scalar(const Tensor& logits) { return logits.new_empty_symint(c10::SymIntArrayRef{}); }
inline Tensor empty_gradient(const Tensor& logits) { return at::empty_like(logits, at::MemoryFormat::Contiguous); }

}  // namespace priornet::python
