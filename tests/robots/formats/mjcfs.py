"""Models of MuJoCo: an arm with all that is read, and a linkage."""

from __future__ import annotations

ARM = """\
<mujoco model="arm">
  <compiler angle="radian"/>
  <default><joint damping="0.5" armature="0.02"/><geom type="capsule" size="0.03"/></default>
  <worldbody>
    <body name="column" pos="0 0 0.2" euler="0.1 0.2 0.3">
      <joint name="waist" axis="0 0 1" range="-2 2" frictionloss="0.1"/>
      <geom fromto="0 0 0 0 0.1 0.4" mass="3"/>
      <body name="arm" pos="0 0.1 0.4" euler="0.3 0 0">
        <joint name="lift" type="slide" axis="1 1 0" pos="0.1 0 0"/>
        <joint name="bend" axis="0 1 0.2" pos="0 0.05 0.1" armature="0.3"/>
        <geom fromto="0 0 0 0.4 0 0.1" mass="2"/>
        <body name="finger" pos="0.4 0 0.1">
          <joint name="close" axis="0 1 0"/><geom fromto="0 0 0 0.1 0 0" mass="0.4"/>
        </body>
      </body>
    </body>
  </worldbody>
  <equality><joint joint1="close" joint2="bend" polycoef="0 -0.5 0 0 0"/></equality>
  <actuator><motor name="m" joint="waist" gear="20" forcerange="-3 3"/></actuator>
</mujoco>
"""
FOUR_BAR = """\
<mujoco model="bars">
  <compiler angle="radian"/>
  <default><geom type="capsule" size="0.02" density="2000"/><joint axis="0 0 1"/></default>
  <worldbody>
    <body name="crank"><joint name="a"/><geom fromto="0 0 0 0 0.2 0"/>
      <body name="coupler" pos="0 0.2 0"><joint name="b"/><geom fromto="0 0 0 0.5 0.1 0"/></body>
    </body>
    <body name="rocker" pos="0.5 0 0"><joint name="d"/><geom fromto="0 0 0 0 0.3 0"/></body>
  </worldbody>
  <equality><connect name="pin" body1="coupler" body2="rocker" anchor="0.5 0.1 0"/></equality>
  <actuator><motor joint="a"/></actuator>
</mujoco>
"""
INCLUDES = """\
<mujoco>
  <compiler meshdir="." texturedir="sub"/>
  <include file="inner.xml"/>
  <asset><mesh name="m" file="m.obj"/><model name="k" file="inner.xml"/></asset>
  <worldbody><replicate count="3" offset="1 0 0"><body><joint/><geom type="mesh" mesh="m"/></body></replicate>
  </worldbody>
</mujoco>
"""
"""A model with files beside it."""

INCLUDED = '<mujoco><worldbody><body name="b"><joint/><geom size="0.1"/></body></worldbody></mujoco>'
