"""Kernels as code for other tools: functions of one sample in C, and as functions of CasADi."""
