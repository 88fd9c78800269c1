# SPDX-License-Identifier: Apache-2.0
"""Writes the manual pages: pages.yaml says what they are, the programs' own help
texts and the table of settings what they hold.
Arguments: pages.yaml, the table of settings, directory of the programs, version,
output directory."""
import gzip
import os
import subprocess
import sys
from pathlib import Path

import yaml


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return text.replace("~", "\\(ti").replace("^", "\\(ha")


def line(text):
    """A line of the text; one that begins like a request does not become one."""
    text = escaped(text)
    return "\\&" + text if text.startswith(".") or text.startswith("\\(aq") else text


def head(name, section, version, summary):
    return [f'.TH {name.upper()} {section} "" "OpenNRT {version}" "OpenNRT"', ".SH NAME",
            f"{escaped(name)} \\- {escaped(summary)}"]


def verbatim(text):
    return [".nf", ".ft CR", *(line(x) for x in text.rstrip().split("\n")), ".ft R", ".fi"]


def help_of(programs, words):
    environment = {k: v for k, v in os.environ.items()
                   if not k.startswith(("OPENNRT_", "NEURON_"))}
    done = subprocess.run([str(programs / words[0]), *words[1:]], env=environment, text=True,
                          capture_output=True, check=False)
    if done.returncode != 0 or not done.stdout.strip():
        sys.exit(f"{' '.join(words)}: exit code {done.returncode}, no help on standard output\n"
                 f"{done.stderr}")
    return done.stdout


def table(heading, entries):
    if not entries:
        return []
    out = [f".SH {heading}"]
    for key, text in entries.items():
        out += [".TP", f".B {escaped(str(key))}", line(str(text))]
    return out


def program_page(page, everything, programs, version):
    out = head(page["name"], page["section"], version, page["summary"])
    texts = [help_of(programs, words) for words in page["help"]]
    out += [".SH SYNOPSIS"]
    for text in texts:
        usage = text.split("\n\n")[0].split("\n")
        lines = [x for i, x in enumerate(usage)
                 if x.startswith("usage: ") or (x.startswith("       ") and i > 0)]
        out += [y for x in lines for y in (line(x.removeprefix("usage: ").strip()), ".br")]
    if page.get("text"):
        out += [".SH DESCRIPTION"]
        for i, paragraph in enumerate(page["text"].strip().split("\n\n")):
            out += [".PP"] * (i > 0) + [line(paragraph)]
    out += [".SH REFERENCE"]
    for words, text in zip(page["help"], texts):
        if len(texts) > 1:
            out += [".SS " + escaped(" ".join(words[:-1]))]
        out += verbatim(text)
    out += table("EXIT STATUS", page.get("exit"))
    out += table("ENVIRONMENT", page.get("environment"))
    out += table("FILES", page.get("files"))
    if page.get("examples"):
        out += [".SH EXAMPLES"]
        for command, text, *_ in page["examples"]:
            out += [".TP", f".B {escaped(command)}", line(text)]
    others = [f"{p['name']}({p['section']})" for p in everything["pages"] if p is not page]
    out += [".SH SEE ALSO", line(", ".join(others + everything["see_also"]))]
    return out


def settings_page(settings, version):
    out = head("nrt.yaml", 5, version, "configuration of the OpenNRT runtime")
    out += [".SH DESCRIPTION", line(
        "A YAML document. A process reads /etc/opennrt/nrt.yaml if it exists, then the file that "
        "the variable OPENNRT_CONFIG names, then its variables; later ones win, key by key. Every "
        "key is optional. A dot in a name below is a level of the document: exec.timeout_s is "
        "timeout_s in exec. opennrt config lists the values in force and where they come from. "
        "Unknown keys are told and ignored; a value that cannot be used is blamed on its file and "
        "line."), ".SH KEYS"]
    for key in settings["keys"]:
        default = key.get("default")
        kind = "|".join(str(c) for c in key["choices"]) if key.get("choices") else key["type"]
        default = "" if default is None else f", default {default if default != '' else 'empty'}"
        out += [".TP", f".BR {escaped(key['key'])} \" ({escaped(kind)}{escaped(default)})\""]
        out += [line(str(key["doc"])[0].upper() + str(key["doc"])[1:] + ".")]
        if key.get("effect") == "none":
            out += [line("Checked, without effect in this release.")]
        if key.get("environment"):
            out += [line("Variable: " + ", ".join(key["environment"]) + ".")]
    out += [".SH FILES", ".TP", ".B /etc/opennrt/nrt.yaml", "of the machine", ".TP",
            ".B /usr/share/opennrt/nrt.schema.yaml", "the keys for programs",
            ".SH SEE ALSO", line("opennrt-config(1), opennrt(1)")]
    return out


def main(pages, table_of_settings, programs, version, output):
    everything = yaml.safe_load(Path(pages).read_text(encoding="utf-8"))
    made = {f"{p['name']}.{p['section']}": program_page(p, everything, Path(programs), version)
            for p in everything["pages"]}
    made["nrt.yaml.5"] = settings_page(
        yaml.safe_load(Path(table_of_settings).read_text(encoding="utf-8")), version)
    for name, lines in made.items():
        section = Path(output) / f"man{name[-1]}"
        section.mkdir(parents=True, exist_ok=True)
        data = ("\n".join(lines) + "\n").encode()
        (section / (name + ".gz")).write_bytes(gzip.compress(data, 9, mtime=0))


main(*sys.argv[1:])
