#pragma once

#include <priornet/deploy/answers.h>
#include <priornet/deploy/serve/messages.h>
#include <priornet/deploy/serve/tensor_request.h>

namespace priornet::serving {

/// The answer of the Open Inference Protocol: the outputs asked for, in JSON, or behind it as little-endian bytes
/// (texts with their length in 4 bytes before them), announced by Inference-Header-Content-Length. A number that is not
/// finite is null in JSON.
Response tensor_response(const ModelDescription& model, const TensorRequest& request, const Answers& answers);

}  // namespace priornet::serving
