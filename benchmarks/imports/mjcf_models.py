"""Models of MuJoCo that have all elements of its schema between them, and files that they name."""

from __future__ import annotations

import re
import struct
import zlib

OPEN = """
<mujoco model="tree">
  <compiler angle="radian"/><option><flag/></option><size/><statistic/>
  <default>
    <joint/><geom/><site/><equality/><tendon/><general/><mesh/>
  </default>
  <asset><mesh name="m" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1"/></asset>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1" pos="0 0 -2"/>
    <body name="a" pos="0 0 .5">
      <joint name="ja" axis="0 0 1"/><geom name="ga" type="capsule" fromto="0 0 0 .3 .1 0" size=".03"/>
      <site name="sa" pos=".1 0 .1"/><camera name="ca"/><light name="la"/>
      <body name="b" pos=".3 .1 0">
        <inertial pos=".1 .02 .03" mass="1.3" diaginertia=".02 .03 .025"/>
        <joint name="jb" type="slide" axis="1 .2 0" damping=".1" frictionloss=".2" range="-1 1" armature=".03"/>
        <site name="sb" pos=".1 .1 0"/>
        <body name="c" pos="0 .2 0">
          <joint name="jc" type="hinge" pos=".02 0 .01" axis="0 1 .3"/><geom name="gc" type="mesh" mesh="m"/>
          <site name="sc" pos="0 .1 .1"/>
          <body name="d" pos=".1 0 .2">
            <joint name="jd" type="ball"/><geom name="gd" type="box" size=".05 .04 .03" pos=".02 .1 0"/>
            <body name="e" pos="0 .1 .1">
              <joint name="je" axis="1 0 0"/><geom name="ge" type="sphere" size=".05" pos="0 .05 0"/>
            </body>
          </body>
        </body>
      </body>
      <body name="f" pos="-.2 0 0">
        <joint name="jf" axis="0 1 0"/><joint name="jg" axis="0 0 1" type="slide"/>
        <geom name="gf" type="cylinder" size=".03 .1" pos=".05 0 0"/>
      </body>
    </body>
  </worldbody>
  <contact><pair geom1="ge" geom2="floor"/><exclude body1="a" body2="e"/></contact>
  <tendon>
    <spatial name="ts"><site site="sa"/><site site="sc"/></spatial>
    <fixed name="tf"><joint joint="ja" coef="1"/><joint joint="jc" coef="-.5"/></fixed>
  </tendon>
  <actuator>
    <general name="a0" joint="ja"/><motor name="a1" joint="jb"/><position name="a2" joint="jc"/>
    <velocity name="a3" joint="je"/><intvelocity name="a4" joint="jf" actrange="-1 1"/>
    <damper name="a5" joint="jf" ctrlrange="0 1"/><cylinder name="a6" joint="jg"/>
    <muscle name="a7" tendon="ts" lengthrange=".1 1"/><motor name="a8" tendon="tf"/><motor name="a9" site="sc"/>
    <general name="a10" joint="jd"/><pid name="a11" joint="ja" ki="1"/><general name="a12" body="e"/>
    <dcmotor name="a13" joint="ja" motorconst="1 1" resistance="1"/>
  </actuator>
  <sensor><jointpos joint="ja"/></sensor>
  <custom><numeric name="n" data="1"/></custom>
  <keyframe><key name="k"/></keyframe>
</mujoco>
"""
"""A tree with joints, bodies, tendons and actuators of all kinds."""

CLOSED = """
<mujoco model="loop">
  <compiler angle="radian"/><option><flag/></option><default><equality/></default>
  <worldbody>
    <body name="a"><joint name="ja" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 .3" size=".02"/>
      <body name="b" pos="0 0 .3"><joint name="jb" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 .4 0 .1" size=".02"/><site name="sb" pos=".4 0 .1"/></body></body>
    <body name="c" pos=".4 0 0"><joint name="jc" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 .4" size=".02"/>
      <site name="sc" pos="0 0 .4"/>
      <body name="d" pos="0 0 .2"><joint name="jd" axis="1 0 0"/><geom type="sphere" size=".05" pos=".1 .1 0"/></body>
      <body name="e" pos="0 0 .1"><joint name="je" axis="1 0 0"/><geom type="sphere" size=".05" pos=".1 0 0"/></body>
    </body>
  </worldbody>
  <tendon><fixed name="ta"><joint joint="jd" coef="1"/></fixed><fixed name="tb"><joint joint="je" coef="2"/></fixed>
  </tendon>
  <equality>
    <connect name="e0" site1="sb" site2="sc"/>
    <tendon name="e1" tendon1="ta" tendon2="tb"/>
  </equality>
  <actuator><motor name="m0" joint="ja"/><motor name="m1" joint="je"/></actuator>
</mujoco>
"""
"""A loop of three bars, and a joint that follows another."""

COUPLED = """
<mujoco model="coupled">
  <compiler angle="radian"/><option><flag/></option><default><equality/></default>
  <worldbody>
    <body name="a"><joint name="ja" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 .3" size=".02"/>
      <body name="b" pos="0 0 .3"><joint name="jb" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 .4 0 .1" size=".02"/>
        <body name="g" pos=".1 0 .2"><joint name="jg" axis="0 0 1"/>
          <geom type="box" size=".1 .2 .03" pos=".1 0 0"/></body>
      </body></body>
    <body name="c" pos=".4 0 0"><joint name="jc" type="ball"/><geom type="capsule" fromto="0 0 0 0 0 .4" size=".02"/>
      <body name="d" pos="0 0 .4"><joint name="jd" type="slide" axis="0 0 1"/><geom type="sphere" size=".05"/></body>
    </body>
  </worldbody>
  <equality><joint name="e1" joint1="jb" joint2="ja"/><weld name="e0" body1="b" body2="d" active="false"/></equality>
  <actuator><motor name="m0" joint="ja"/></actuator>
</mujoco>
"""
"""A joint that follows another by an equality, and a weld that is not active."""

PARTS = """
<mujoco model="parts">
  <compiler angle="radian"><lengthrange/></compiler>
  <option/>
  <default>
    <default class="inner"><joint armature=".1"/><geom density="700"/><mesh scale=".9 .9 .9"/><site size=".02"/>
      <tendon width=".1"/><equality solref=".03 1"/></default>
  </default>
  <asset>
    <texture name="t" type="2d" builtin="flat" width="4" height="4"/>
    <material name="mat"><layer role="rgb" texture="t"/></material>
    <hfield name="h" nrow="2" ncol="2" size="1 1 .1 .1"/><hfield name="hf" file="field.bin" size="1 1 .1 .1"/>
    <texture name="tf" type="2d" file="dot.png"/><texture name="tc" type="cube" fileright="dot.png" fileleft="dot.png"/>
    <mesh name="m" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1"/><model name="other" file="other.xml"/>
    <mesh name="mf" file="mesh.obj"/><mesh name="mb" builtin="sphere" params="1" scale=".1 .1 .1"/>
    <mesh name="me" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1" face="0 2 1 0 1 3 1 2 3 0 3 2"/>
    <material name="mt" texture="t"/>
    <skin name="k" vertex="0 0 0 1 0 0 0 1 0" face="0 1 2">
      <bone body="b" bindpos="0 0 0" bindquat="1 0 0 0" vertid="0 1 2" vertweight="1 1 1"/>
    </skin><skin name="ks" file="skin.skn"/>
  </asset>
  <worldbody>
    <body name="a" pos="0 0 1"><freejoint name="fa"/><geom name="ga" type="box" size=".1 .2 .3" mass="2"/>
      <frame name="plain"><body name="q"><joint axis="1 1 0"/><geom size=".05" pos=".1 0 0"/></body></frame>
      <frame name="fr" pos=".1 0 .2" euler="0 .3 0">
        <body name="b" pos="0 0 .1"><joint name="jb" axis="0 1 0" range="-1 1"/><site name="sb"/>
          <geom name="gb" size=".1" pos=".1 0 0"/><geom type="mesh" mesh="mf"/><geom type="mesh" mesh="mb"/>
          <geom type="mesh" mesh="me"/><geom type="box" mesh="m" class="inner"/><camera name="cb" resolution="4 4"/>
          <site type="capsule" fromto="0 0 0 0 0 .1" size=".01" class="inner"/><site type="mesh" mesh="m"/>
          <camera name="cs" resolution="4 4" sensorsize=".1 .1" focal=".1 .1" principal="0 0" projection="perspective"/>
          <camera resolution="4 4" sensorsize=".1 .1" focalpixel="2 2" principalpixel="0 0" output="depth"/></body>
      </frame>
      <replicate count="2" offset="0 .2 0" euler="0 0 .3">
        <body name="r" pos=".3 0 0"><joint name="jr" axis="1 0 0"/><geom size=".05" pos="0 0 .1"/></body>
      </replicate>
      <attach model="other" body="far" prefix="o_"/><attach model="other" frame="end" prefix="p_"/>
      <body name="c" pos="0 .2 0"><joint name="jc" type="ball"/>
        <inertial pos="0 .1 0" mass="1" fullinertia=".02 .03 .04 .001 .002 .003"/>
        <geom name="gc" size=".1" pos="0 .1 0"/>
        <site name="sc" pos=".1 0 0"/></body>
      <include file="included.xml"/>
    </body>
    <light name="l"/><light type="spot"/><geom name="field" type="hfield" hfield="h" pos="0 0 -1"/>
    <body name="mo" mocap="true"><geom size=".01"/></body>
  </worldbody>
  <deformable>
    <skin name="k2" vertex="0 0 0 1 0 0 0 1 0" face="0 1 2">
      <bone body="b" bindpos="0 0 0" bindquat="1 0 0 0" vertid="0 1 2" vertweight="1 1 1"/>
    </skin><skin name="kd" file="skin.skn"/>
  </deformable>
  <contact><pair geom1="ga" geom2="gc"/></contact>
  <tendon>
    <spatial name="ts" range="0 9"><site site="sb"/><geom geom="gb"/><site site="sc"/><pulley divisor="2"/>
      <site site="sb"/><site site="sc"/></spatial>
    <fixed name="tf"><joint joint="jb" coef="1"/></fixed>
  </tendon>
  <equality>
    <connect body1="a" body2="b" anchor="0 0 .1" active="false"/><weld site1="sb" site2="sc" active="false"/>
    <joint joint1="jb" active="false"/><tendon tendon1="ts" active="false"/>
  </equality>
  <actuator>
    <adhesion name="ad" body="b" ctrlrange="0 1"/><orientation name="o" joint="jc" kp="1" ctrlrange="-1 1"/>
    <motor name="mo" joint="jb"/>
  </actuator>
  <keyframe><key mpos="0 0 0" mquat="1 0 0 0"/></keyframe>
</mujoco>
"""
"""A floating tree with assets, frames, and parts of other files."""

_SENSORS = """
    <touch site="sb"/><accelerometer site="sb"/><velocimeter site="sb"/><gyro site="sb"/><force site="sb"/>
    <torque site="sb"/><magnetometer site="sb"/><camprojection site="sb" camera="cb"/><rangefinder site="sb"/>
    <jointvel joint="jb"/><tendonpos tendon="ts"/><tendonvel tendon="ts"/>
    <actuatorpos actuator="mo"/><actuatorvel actuator="mo"/><actuatorfrc actuator="mo"/>
    <jointactuatorfrc joint="jb"/><tendonactuatorfrc tendon="ts"/><ballquat joint="jc"/><ballangvel joint="jc"/>
    <jointlimitpos joint="jb"/><jointlimitvel joint="jb"/><jointlimitfrc joint="jb"/>
    <tendonlimitpos tendon="ts"/><tendonlimitvel tendon="ts"/><tendonlimitfrc tendon="ts"/>
    <framepos objtype="body" objname="b" reftype="body" refname="a"/>
    <framequat objtype="body" objname="b" reftype="body" refname="a"/>
    <framexaxis objtype="body" objname="b" reftype="body" refname="a"/>
    <frameyaxis objtype="body" objname="b" reftype="body" refname="a"/>
    <framezaxis objtype="body" objname="b" reftype="body" refname="a"/>
    <framelinvel objtype="body" objname="b" reftype="body" refname="a"/>
    <frameangvel objtype="body" objname="b" reftype="body" refname="a"/>
    <framelinacc objtype="body" objname="b"/>
    <frameangacc objtype="body" objname="b"/><subtreecom body="b"/><subtreelinvel body="b"/><subtreeangmom body="b"/>
    <insidesite site="sb" objtype="body" objname="c"/><distance geom1="ga" geom2="gc"/>
    <normal geom1="ga" geom2="gc"/><fromto geom1="ga" geom2="gc"/><contact geom1="ga" data="found force" num="2"/>
    <contact site="sb" data="found"/>
    <rangefinder camera="cb" data="dist"/><distance body1="a" body2="c"/><normal body1="a" body2="c"/>
    <fromto body1="a" body2="c"/><contact body1="a" body2="c"/><contact subtree1="a" subtree2="c"/>
    <tactile mesh="m" geom="gc"/><e_potential/><e_kinetic/><clock/>
    <user dim="1" datatype="positive"/><user dim="1" objtype="body" objname="b"/>
"""
"""Sensors of all kinds at the parts of a model."""

_DELAYED = re.sub(r"<(?!tactile|user)(\w+)", r'<\1 nsample="2" interp="zoh" delay=".01"', _SENSORS)
"""The same with histories. Tactile sensors and those of users have none."""

SENSED = f"""
<mujoco model="sensed">
  <visual><global/><quality/><headlight/><map/><scale/><rgba/></visual>
  <asset><mesh name="m" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1"/></asset>
  <worldbody>
    <body name="a" pos="0 0 1"><joint name="ja" axis="0 1 0"/><geom name="ga" type="box" size=".1 .2 .3" mass="2"/>
      <body name="b" pos="0 0 .4"><joint name="jb" axis="0 1 0" range="-1 1"/><site name="sb"/>
        <geom name="gb" size=".1" pos=".1 0 0"/><camera name="cb" resolution="4 4"/></body>
      <body name="c" pos="0 .2 0"><joint name="jc" type="ball"/><geom name="gc" size=".1" pos="0 .1 0"/>
        <site name="sc" pos=".1 0 0"/></body>
    </body>
  </worldbody>
  <tendon><spatial name="ts" range="0 9"><site site="sb"/><site site="sc"/></spatial></tendon>
  <actuator><motor name="mo" joint="jb"/></actuator>
  <sensor>{_DELAYED}</sensor>
  <custom><text name="te" data="x"/><tuple name="tu"><element objtype="body" objname="b"/></tuple></custom>
</mujoco>
"""
"""A tree with sensors."""

_KINDS = {
    "general": "", "motor": "", "position": "", "velocity": "", "intvelocity": 'actrange="-1 1"', "pid": 'ki="1"',
    "damper": 'ctrlrange="0 1"', "cylinder": "", "muscle": 'lengthrange=".1 1"',
    "dcmotor": 'motorconst="1 1" resistance="1"',
}  # fmt: skip
"""Kinds of actuators, with their required attributes."""

_CRANKS = "".join(f'<{kind} cranksite="sa" slidersite="sb" cranklength=".2" {text}/>' for kind, text in _KINDS.items())
_SITES = "".join(f'<{kind} site="sb" refsite="sa" {text}/>' for kind, text in _KINDS.items() if kind != "muscle")
_OWN = "".join(f'<{kind} joint="jb" class="inner" {text}/>' for kind, text in _KINDS.items())
ACTUATED = f"""
<mujoco model="actuated">
  <default><default class="inner"><general armature=".01" damping=".1"/></default></default>
  <worldbody>
    <body name="a"><joint name="ja" axis="0 1 0"/><geom type="box" size=".1 .05 .02"/><site name="sa" pos=".1 0 0"/>
      <body name="b" pos=".1 0 .2"><joint name="jb" axis="1 0 0"/><geom type="box" size=".1 .05 .02" pos="0 .1 0"/>
        <site name="sb" pos="0 .2 0"/>
        <body name="c" pos="0 .1 0"><joint name="jc" type="ball"/><geom size=".05" pos="0 0 .1"/></body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <general joint="ja" armature=".02" damping=".1" gear="3" forcerange="-9 9" input="pos"/>{_OWN}{_CRANKS}{_SITES}
    <orientation joint="jc" kp="1" ctrlrange="-1 1" input="pos"/>
    <orientation site="sb" refsite="sa" kp="1" ctrlrange="-1 1"/>
  </actuator>
</mujoco>
"""
"""Actuators of all kinds at joints, with their rotors, at cranks and at sites."""

FLEXIBLE = """
<mujoco model="flexible">
  <worldbody>
    <body name="a"><joint axis="0 1 0"/><geom size=".1"/>
      <flexcomp name="fc" type="grid" count="3 3 1" spacing=".1 .1 .1" dim="2" mass="1" radius=".01">
        <edge/><elasticity/><contact/><pin id="0"/></flexcomp>
    </body>
    <body name="t">
      <flexcomp name="ft" type="grid" count="3 3 3" spacing=".1 .1 .1" dim="3" mass="1" radius=".01" dof="trilinear"
        pos="0 0 2"/>
    </body>
    <body name="n0" pos="0 0 1"><joint type="slide"/><geom size=".01"/></body>
    <body name="n1" pos=".1 0 1"><joint type="slide"/><geom size=".01"/></body>
  </worldbody>
  <deformable>
    <flex name="fl" dim="1" body="n0 n1" vertex="0 0 0 0 0 0" element="0 1" radius=".01">
      <contact/><edge/><elasticity/></flex>
  </deformable>
  <equality><flex flex="fc"/><flexstrain flex="ft" cell="0 0 0"/></equality>
</mujoco>
"""
"""Flexible bodies, which are refused."""

PLUGINS = """
<mujoco model="plugins">
  <extension>
    <plugin plugin="mujoco.pid"><instance name="i"><config key="kp" value="1"/></instance></plugin>
    <plugin plugin="mujoco.sdf.nut"/><plugin plugin="mujoco.sensor.touch_grid"/>
  </extension>
  <asset><mesh name="m"><plugin plugin="mujoco.sdf.nut"><config key="radius" value=".1"/></plugin></mesh></asset>
  <worldbody>
    <body name="a"><joint name="ja" axis="0 1 0"/><site name="sa"/>
      <geom type="sdf" mesh="m"><plugin plugin="mujoco.sdf.nut"><config key="radius" value=".1"/></plugin></geom>
    </body>
  </worldbody>
  <actuator>
    <plugin plugin="mujoco.pid" joint="ja"><config key="kp" value="1"/></plugin>
    <plugin plugin="mujoco.pid" joint="ja" instance="i"/>
  </actuator>
  <sensor>
    <plugin plugin="mujoco.sensor.touch_grid" objtype="site" objname="sa"><config key="size" value="2 2"/>
      <config key="fov" value="10 10"/><config key="gamma" value="0"/></plugin>
  </sensor>
</mujoco>
"""
"""Plugins, which are refused."""

CHOICES = """
<mujoco model="choices">
  <compiler meshdir="big" balanceinertia="true"/><option gravity="0 0 -9.81"/>
  <asset><mesh name="m" file="mesh.obj"/><mesh name="n" file="small/mesh.obj"/></asset>
  <worldbody>
    <body name="a" euler="20 30 40"><freejoint name="fa"/><geom type="box" size=".1 .2 .3" pos=".1 0 .05"/>
      <body name="b" pos="0 0 .3"><joint name="jb" axis="0 1 0" range="-30 40" actuatorfrcrange="-5 5"/>
        <inertial pos="0 0 .1" mass="1" diaginertia="1 1 3"/><geom size=".1" pos=".1 0 0"/>
        <body name="s" pos="0 .1 0" axisangle="1 0 0 30"><geom size=".05" pos="0 0 .1"/></body>
        <body name="c" pos="0 0 .3"><joint name="jc" axis="1 0 0"/><geom type="box" mesh="m" pos=".1 0 0"/>
          <geom type="mesh" mesh="n" group="1" contype="0" conaffinity="0"/></body>
      </body>
    </body>
    <body name="z" pos="1 0 0"><freejoint name="fz"/><geom type="box" size=".1 .2 .3" pos=".1 0 .05"/></body>
  </worldbody>
  <actuator><motor joint="jb" forcerange="-9 9" group="2"/></actuator>
</mujoco>
"""
"""A model whose numbers depend on what its compiler is told."""

LIMITED = """
<mujoco model="limited">
  <compiler assetdir="small"/><asset><mesh name="m" file="mesh.obj"/></asset>
  <worldbody>
    <body name="a"><joint name="ja" axis="0 1 0" range="-30 40" limited="true"/><geom size=".1" pos=".1 0 0"/>
      <body name="b" pos=".1 0 .2"><joint name="jb" type="slide" axis="1 0 0" range="-.3 .4"/>
        <geom type="mesh" mesh="m"/></body>
    </body>
  </worldbody>
</mujoco>
"""
"""Joints with ranges, and a mesh of a folder."""

SPRUNG = """
<mujoco model="sprung">
  <compiler angle="radian"/><option density="1.2" viscosity=".1" wind="1 2 3"><flag/></option>
  <default><default class="inner"><joint stiffness="2"/><tendon stiffness="3"/><geom fluidshape="ellipsoid"/></default>
  </default>
  <worldbody>
    <body name="a" gravcomp=".5">
      <joint name="ja" axis="0 1 0" stiffness="3" springref=".3" actuatorgravcomp="true"/><geom size=".1" pos=".1 0 0"/>
      <site name="sa" pos=".1 0 .1"/>
      <body name="b" pos=".1 0 .2"><joint name="jb" type="ball" stiffness="2"/>
        <geom type="box" size=".1 .2 .3" fluidshape="ellipsoid" fluidcoef=".5 .25 1.5 1 1"/>
        <site name="sb" pos="0 .2 0"/>
        <body name="c" pos=".1 0 .2"><joint name="jc" axis="1 0 0" stiffness="3" springyield=".1"/>
          <geom type="capsule" size=".1 .2"/></body>
      </body>
    </body>
  </worldbody>
  <tendon>
    <spatial name="ts" stiffness="3" springlength=".1" damping="1"><site site="sa"/><site site="sb"/></spatial>
    <spatial name="tg" stiffness="2" springlength=".1"><site site="sa"/><site site="sb"/>
      <pulley divisor="2"/><site site="sa"/><site site="sb"/></spatial>
    <fixed name="tf" stiffness="3" springlength=".1" armature=".1"><joint joint="ja" coef="1"/>
      <joint joint="jc" coef="2"/></fixed>
  </tendon>
  <keyframe><key plastic=".1"/></keyframe>
</mujoco>
"""
"""Springs, a fluid and compensated gravity, which are refused, with what matters beside them alone."""

MODELS = {
    "limited": LIMITED, "choices": CHOICES, "tree": OPEN, "parts": PARTS, "sensed": SENSED, "actuated": ACTUATED,
    "coupled": COUPLED, "loop": CLOSED, "sprung": SPRUNG, "flexible": FLEXIBLE, "plugins": PLUGINS,
}  # fmt: skip

BESIDE = "sprung"
"""The model, refused as it is, that has attributes which matter beside springs, fluids or compensated gravity alone."""

_SOLID = "v 0 0 0\nv {0} 0 0\nv 0 {0} 0\nv 0 0 {0}\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
"""A mesh of four corners, by its size."""

_CORNERS = (0, 0, 0, 1, 0, 0, 0, 1, 0)
_DOT = struct.pack(">2I5B", 2, 2, 8, 2, 0, 0, 0), zlib.compress(bytes(14)), b""


def _chunk(tag: bytes, data: bytes) -> bytes:
    """Return a part of a picture (PNG)."""
    return struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))


FILES = {
    "other.xml": b"<mujoco model='other'><worldbody><body name='far' pos='0 .1 .3'><joint name='jf' axis='0 1 1'/>"
    b"<geom size='.05' pos='.1 0 0'/></body><frame name='end' pos='.2 0 0'><body name='tool'><joint name='jt'/>"
    b"<geom size='.05' pos='0 0 .1'/></body></frame></worldbody></mujoco>",
    "longer.xml": b"<mujoco model='other'><worldbody><body name='far' pos='0 .1 .3'><joint name='jf' axis='0 1 1'/>"
    b"<geom size='.05' pos='.3 0 0'/></body><frame name='end' pos='.2 0 0'><body name='tool'><joint name='jt'/>"
    b"<geom size='.05' pos='0 0 .1'/></body></frame></worldbody></mujoco>",
    "included.xml": b"<mujoco><body name='more' pos='0 .2 .1'><joint axis='1 0 1'/><geom size='.1' pos='0 .1 0'/>"
    b"</body></mujoco>",
    "mesh.obj": _SOLID.format(0.2).encode(),
    "big/mesh.obj": _SOLID.format(0.3).encode(),
    "big/small/mesh.obj": _SOLID.format(0.1).encode(),
    "small/mesh.obj": _SOLID.format(0.15).encode(),
    "field.bin": struct.pack("<2i4f", 2, 2, 0.0, 1.0, 1.0, 0.0),
    "dot.png": b"\x89PNG\r\n\x1a\n" + b"".join(map(_chunk, (b"IHDR", b"IDAT", b"IEND"), _DOT)),
    "skin.skn": struct.pack(
        "<4i9f3i40s7f4i3f", 3, 0, 1, 1, *_CORNERS, 0, 1, 2, b"b", 0, 0, 0, 1, 0, 0, 0, 3, 0, 1, 2, 1, 1, 1
    ),
}  # fmt: skip
"""Files that the models name."""
