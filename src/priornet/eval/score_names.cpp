#include <priornet/eval/score_names.h>

namespace priornet {

bool is_confidence(std::string_view column) {
  return column == "max_prob" || column == "precision" || column == "odin";
}

bool is_score(std::string_view column) {
  return column != "prediction" && column != "mutual_information_mu_theta_std_err";
}

}  // namespace priornet
