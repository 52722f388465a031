#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/AutogradState.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/ScalarTypeToTypeMeta.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Exception.h>
#include <priornet/uncertainty/errors.h>
#include <torch/library.h>
#include <torch/types.h>
#include <torch/version.h>

#include <mutex>
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

/// While this object lives, new tensors are float32 unless the code says otherwise, as everywhere in the library: the
/// user may have chosen another default (torch.set_default_dtype). The process has one default, so the last of several
/// such objects, on several threads, brings the user's back.
class Float32ByDefault {
 public:
  Float32ByDefault() {
    auto& all = shared();
    const std::lock_guard lock(all.mutex);
    ++all.living;
    const auto now = c10::get_default_dtype_as_scalartype();
    if (now == torch::kFloat32) return;
    all.of_user = now;
    c10::set_default_dtype(c10::scalarTypeToTypeMeta(torch::kFloat32));
  }
  ~Float32ByDefault() {
    auto& all = shared();
    const std::lock_guard lock(all.mutex);
    if (--all.living > 0 || !all.of_user) return;
    c10::set_default_dtype(c10::scalarTypeToTypeMeta(*all.of_user));
    all.of_user.reset();
  }
  Float32ByDefault(const Float32ByDefault&) = delete;
  Float32ByDefault& operator=(const Float32ByDefault&) = delete;

 private:
  struct Shared {
    std::mutex mutex;
    int64_t living = 0;
    std::optional<torch::ScalarType> of_user;
  };
  static Shared& shared() {
    static Shared all;
    return all;
  }
};

/// Calls `work`; its exceptions arrive in Python as ValueError (arguments, configurations), OSError (files) or
/// RuntimeError, with their messages. Neither torch.set_default_dtype nor torch.autocast changes what it computes: the
/// answers of a model and its thresholds belong together.
template <class Work>
auto guarded(const Work& work) {
  const Float32ByDefault float32;
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
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

/// Whether a result of the tensor needs a gradient. Error for a tensor with a forward-mode derivative, which would
/// silently get lost.
inline bool wants_gradient(const Tensor& tensor) {
  if (c10::AutogradState::get_tls_state().get_fw_grad_mode() && tensor._fw_grad(/*level=*/0).defined())
    throw Error(
        "priornet: has no forward-mode derivatives (torch.autograd.forward_ad, torch.func.jvp): use reverse mode, "
        "torch.autograd.grad or torch.func.vjp");
  return at::GradMode::is_enabled() && tensor.requires_grad();
}

/// For Meta: one number per row, the rows being dimension `dim` of the logits.
inline Tensor empty_rows(const Tensor& logits, int64_t dim) { return logits.new_empty_symint({logits.sym_size(dim)}); }
inline Tensor empty_rows(const Tensor& logits, int64_t dim, torch::Dtype dtype) {
  return logits.new_empty_symint({logits.sym_size(dim)}, logits.options().dtype(dtype));
}
inline Tensor empty_scalar(const Tensor& logits) { return logits.new_empty_symint(c10::SymIntArrayRef{}); }
inline Tensor empty_gradient(const Tensor& logits) { return at::empty_like(logits, at::MemoryFormat::Contiguous); }

}  // namespace priornet::python
