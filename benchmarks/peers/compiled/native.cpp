// Pinocchio's algorithms for trees, instantiated here and so compiled for this machine; one call does all samples.
//
// Arrays are (sample, body), row by row. Nothing of Pinocchio's own library is linked: its Eigen has other alignments.
// Of the two ways that Pinocchio has of an algorithm the quicker one is called.

#include "tree.hpp"

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>

using pinocchio::Convention;

namespace
{
  typedef Eigen::Map<const Eigen::VectorXd> Row;
  typedef Eigen::Map<Eigen::VectorXd> Result;

  struct Tree
  {
    Model<double> model;
    Data<double> data;

    explicit Tree(const Model<double> & made)
    : model(made)
    , data(model)
    {
    }
  };
} // namespace

extern "C"
{
  Tree * make(int bodies, const int * parents, const int * prismatic, const double * numbers, const double * gravity)
  {
    return new Tree(model_of<double>(bodies, parents, prismatic, numbers, gravity));
  }

  void discard(Tree * tree)
  {
    delete tree;
  }

  void inverse_dynamics(
    Tree * tree, long count, const double * q, const double * qd, const double * qdd, double * torque)
  {
    const long size = tree->model.nv;
    for (long k = 0; k < count * size; k += size)
      Result(torque + k, size) =
        pinocchio::rnea(tree->model, tree->data, Row(q + k, size), Row(qd + k, size), Row(qdd + k, size));
  }

  void
  forward_dynamics(Tree * tree, long count, const double * q, const double * qd, const double * torque, double * qdd)
  {
    const long size = tree->model.nv;
    for (long k = 0; k < count * size; k += size)
      Result(qdd + k, size) = pinocchio::aba(
        tree->model, tree->data, Row(q + k, size), Row(qd + k, size), Row(torque + k, size), Convention::WORLD);
  }

  // Upper triangles, the rest is undefined.
  void inertia_matrix(Tree * tree, long count, const double * q, double * matrix)
  {
    typedef Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> Matrix;
    const long size = tree->model.nv;
    for (long k = 0; k < count * size; k += size)
      Matrix(matrix + k * size, size, size) =
        pinocchio::crba(tree->model, tree->data, Row(q + k, size), Convention::LOCAL);
  }

  // (force, moment) on every body by its parent, at its joint, in the axes of the body.
  void
  reactions(Tree * tree, long count, const double * q, const double * qd, const double * qdd, double * wrench)
  {
    const long size = tree->model.nv;
    for (long k = 0; k < count * size; k += size)
    {
      pinocchio::rnea(tree->model, tree->data, Row(q + k, size), Row(qd + k, size), Row(qdd + k, size));
      for (long body = 0; body < size; ++body)
        Eigen::Map<Eigen::Matrix<double, 6, 1>>(wrench + 6 * (k + body)) = tree->data.f[body + 1].toVector();
    }
  }
}
