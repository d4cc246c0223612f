// A spanning tree in plain numbers, as `plain.py` makes it, becomes a model of Pinocchio, in any kind of number.

#pragma once

#include <string>

#include <pinocchio/multibody.hpp>
#include <pinocchio/multibody/joint.hpp>

// The joints that a tree here has, which every call for a joint tells apart. Pinocchio asks for the mimic joint.
template<typename ScalarType, int options>
struct JointsAlongZ
{
  typedef ScalarType Scalar;
  static constexpr int Options = options;

  typedef pinocchio::JointModelRevoluteTpl<Scalar, Options, 2> JointModelRZ;
  typedef pinocchio::JointModelPrismaticTpl<Scalar, Options, 2> JointModelPZ;
  typedef pinocchio::JointModelMimicTpl<Scalar, Options, ::JointsAlongZ> JointModelMimic;
  typedef boost::variant<JointModelRZ, JointModelPZ, boost::recursive_wrapper<JointModelMimic>> JointModelVariant;

  typedef pinocchio::JointDataRevoluteTpl<Scalar, Options, 2> JointDataRZ;
  typedef pinocchio::JointDataPrismaticTpl<Scalar, Options, 2> JointDataPZ;
  typedef pinocchio::JointDataMimicTpl<Scalar, Options, ::JointsAlongZ> JointDataMimic;
  typedef boost::variant<JointDataRZ, JointDataPZ, boost::recursive_wrapper<JointDataMimic>> JointDataVariant;
};

template<typename Scalar>
using Model = pinocchio::ModelTpl<Scalar, 0, JointsAlongZ>;
template<typename Scalar>
using Data = pinocchio::DataTpl<Scalar, 0, JointsAlongZ>;

// Of each body: its parent from 0 or -1, whether its joint is prismatic, and 25 numbers: rotation and position of the
// joint in the parent, mass, centre, tensor about the centre; matrices row by row.
template<typename Scalar>
Model<Scalar>
model_of(int bodies, const int * parents, const int * prismatic, const double * numbers, const double * gravity)
{
  typedef Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> Matrix;
  typedef Eigen::Map<const Eigen::Vector3d> Vector;
  typedef pinocchio::SE3Tpl<Scalar, 0> Placement;
  typedef typename Model<Scalar>::JointModel Joint;
  typedef JointsAlongZ<Scalar, 0> Joints;
  Model<Scalar> model;
  model.gravity.linear() = Vector(gravity).template cast<Scalar>();
  for (int k = 0; k < bodies; ++k, numbers += 25)
  {
    const Placement at(Matrix(numbers).template cast<Scalar>(), Vector(numbers + 9).template cast<Scalar>());
    const pinocchio::InertiaTpl<Scalar, 0> inertia(
      Scalar(numbers[12]), Vector(numbers + 13).template cast<Scalar>(), Matrix(numbers + 16).template cast<Scalar>());
    const Joint joint =
      prismatic[k] ? Joint(typename Joints::JointModelPZ()) : Joint(typename Joints::JointModelRZ());
    const auto number = model.addJoint(parents[k] + 1, joint, at, std::to_string(k));
    model.appendBodyToJoint(number, inertia, Placement::Identity());
  }
  return model;
}
