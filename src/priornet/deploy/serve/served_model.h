#pragma once

#include <priornet/deploy/predictor.h>
#include <priornet/deploy/serve/batch_queue.h>
#include <priornet/deploy/serve/model_description.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace priornet::serving {

/// A model behind the server, whatever answers.
struct ServedModel {
  ModelDescription description;
  Answerer answer;
  /// The bytes of an image file as one input of the model. DataError with the reason.
  std::function<std::string(std::string_view file)> input_of_image;
};

/// A predictor behind the server. Asks it once, so that the first client does not wait for what is set up then. Small
/// passes are made by one thread, whatever LibTorch is set to.
ServedModel served_model(std::shared_ptr<Predictor> predictor);

}  // namespace priornet::serving
