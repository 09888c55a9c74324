#include "specs/breakdown.h"

namespace vramgauge {

std::string_view basis_name(Basis basis) {
  switch (basis) {
    case Basis::exact: return "exact";
    case Basis::modelled: return "modelled";
    case Basis::measured: return "measured";
    case Basis::assumed: return "assumed";
  }
  return "";
}

Basis worse(Basis a, Basis b) { return a < b ? b : a; }

std::string_view term_name(TermId id) {
  switch (id) {
    case TermId::weights: return "weights";
    case TermId::kv_cache: return "kv_cache";
    case TermId::activations: return "activations";
    case TermId::runtime: return "runtime";
  }
  return "";
}

std::string_view verdict_name(VerdictState state) {
  switch (state) {
    case VerdictState::fits: return "fits";
    case VerdictState::tight: return "tight";
    case VerdictState::does_not_fit: return "does_not_fit";
  }
  return "";
}

}  // namespace vramgauge
