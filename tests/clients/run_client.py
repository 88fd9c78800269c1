#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a client with a model on the software device: MODEL PRODUCT COMMAND...

MODEL is the path of a model, or corpus:NAME for a real one in OPENNRT_CORPUS (without it
beside the repository); the word MODEL in the command becomes its path. Exit code 77: there
is no such real model here.
"""
import os
import pathlib
import sys

model, product, *command = sys.argv[1:]
if model.startswith("corpus:"):
    folder = os.environ.get("OPENNRT_CORPUS") or pathlib.Path(__file__).parents[3] / "shared/corpus"
    model = str(pathlib.Path(folder) / f"{model[len('corpus:'):]}.neff")
    if not os.path.exists(model):
        print(f"{model} is absent: set OPENNRT_CORPUS")
        sys.exit(77)
os.environ.update(OPENNRT_DEVICE="emulator", OPENNRT_EMULATOR_PRODUCT=product)
os.execv(command[0], [model if word == "MODEL" else word for word in command])
