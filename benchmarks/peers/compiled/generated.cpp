// Pinocchio's code generation: its algorithms for trees, run on numbers that record what is done, are written as C.

#include <cstdlib>
#include <cstring>
#include <sstream>

#include <pinocchio/codegen/cppadcg.hpp>

#include "tree.hpp"

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>

using pinocchio::Convention;

namespace
{
  typedef CppAD::cg::CG<double> Node;
  typedef CppAD::AD<Node> Traced;
  typedef Eigen::Matrix<Traced, Eigen::Dynamic, 1> Vector;

  Vector traced(const std::string & job, const Model<Traced> & model, const Vector & x)
  {
    const Eigen::Index size = model.nv;
    Data<Traced> data(model);
    if (job == "inverse_dynamics")
      return pinocchio::rnea(model, data, x.head(size), x.segment(size, size), x.tail(size));
    if (job == "forward_dynamics")
      return pinocchio::aba(model, data, x.head(size), x.segment(size, size), x.tail(size), Convention::LOCAL);
    pinocchio::crba(model, data, x, Convention::LOCAL);
    Vector upper(size * (size + 1) / 2);
    for (Eigen::Index row = 0, k = 0; row < size; ++row)
      for (Eigen::Index column = row; column < size; ++column)
        upper[k++] = data.M(row, column);
    return upper;
  }
} // namespace

extern "C"
{
  // Statements that make y[] of x[], and of constants; `discard` frees the text.
  char * make(
    const char * job, int inputs, int bodies, const int * parents, const int * prismatic, const double * numbers,
    const double * gravity)
  {
    Vector x = Vector::Zero(inputs);
    CppAD::Independent(x);
    const Vector y = traced(job, model_of<Traced>(bodies, parents, prismatic, numbers, gravity), x);
    CppAD::ADFun<Node> function(x, y);
    function.optimize("no_compare_op");

    CppAD::cg::CodeHandler<double> handler;
    std::vector<Node> given(inputs);
    handler.makeVariables(given);
    std::vector<Node> found = function.Forward(0, given);
    CppAD::cg::LanguageC<double> language("real");
    language.setParameterPrecision(17);
    CppAD::cg::LangCDefaultVariableNameGenerator<double> names;
    std::ostringstream code;
    handler.generateCode(code, language, found, names);
    return strdup((language.generateTemporaryVariableDeclaration() + code.str()).c_str());
  }

  void discard(char * code)
  {
    free(code);
  }
}
