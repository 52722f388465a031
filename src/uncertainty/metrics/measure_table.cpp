#include <priornet/uncertainty/measure_table.h>

namespace priornet {

bool is_confidence(std::string_view column) {
  return column == "max_prob" || column == "precision" || column == "odin";
}

bool is_score(std::string_view column) {
  return column != "prediction" && column != "mutual_information_mu_theta_std_err";
}

std::vector<NamedTensor> measure_columns(const DirichletMeasures& m) {
  return {{"prediction", m.prediction},
          {"max_prob", m.max_prob},
          {"entropy", m.entropy},
          {"expected_entropy", m.expected_entropy},
          {"mutual_information", m.mutual_information},
          {"differential_entropy", m.differential_entropy},
          {"precision", m.precision}};
}

std::vector<NamedTensor> measure_columns(const SoftmaxMeasures& m) {
  return {{"prediction", m.prediction}, {"max_prob", m.max_prob}, {"entropy", m.entropy}};
}

std::vector<NamedTensor> measure_columns(const EnsembleMeasures& m) {
  return {{"prediction", m.prediction},
          {"max_prob", m.max_prob},
          {"entropy", m.entropy},
          {"expected_entropy", m.expected_entropy},
          {"mutual_information", m.mutual_information}};
}

std::vector<NamedTensor> measure_columns(const DirichletEnsembleMeasures& m) {
  std::vector<NamedTensor> columns = {{"prediction", m.prediction},
                                      {"max_prob", m.max_prob},
                                      {"entropy", m.entropy},
                                      {"expected_entropy", m.expected_entropy},
                                      {"mutual_information", m.mutual_information},
                                      {"mutual_information_y_theta", m.mutual_information_y_theta},
                                      {"differential_entropy", m.differential_entropy},
                                      {"precision", m.precision},
                                      {"epkl", m.epkl}};
  if (m.mutual_information_mu_theta.defined()) {
    columns.push_back({"mutual_information_mu_theta", m.mutual_information_mu_theta});
    columns.push_back({"mutual_information_mu_theta_std_err", m.mutual_information_mu_theta_std_err});
  }
  return columns;
}

}  // namespace priornet
