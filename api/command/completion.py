"""Run `weft completion`: print a script that completes commands, options and files in bash, zsh or fish."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

EPILOG = """\
examples:
  eval "$(weft completion bash)"                                        # in ~/.bashrc
  eval "$(weft completion zsh)"                                         # in ~/.zshrc, after compinit
  weft completion fish > ~/.config/fish/completions/weft.fish
"""


def add_completion(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), metavar="bash|zsh|fish", help="the shell")


def completion(args: argparse.Namespace) -> None:
    """Print the script for a shell."""
    parsers: Mapping[str, argparse.ArgumentParser] = args.parsers
    print({"bash": _bash, "zsh": _zsh, "fish": _fish}[args.shell](parsers), end="")


def options_of(parser: argparse.ArgumentParser) -> list[str]:
    """Return the options of a command, long ones only."""
    return [name for action in parser._actions for name in action.option_strings if name.startswith("--")]


def words_of(parser: argparse.ArgumentParser) -> list[str]:
    """Return the fixed words that a command takes as arguments."""
    return [str(c) for a in parser._actions if not a.option_strings and a.choices for c in a.choices]


def _bash(parsers: Mapping[str, argparse.ArgumentParser]) -> str:
    cases = "".join(
        f"        {name}) words='{' '.join([*options_of(parser), *words_of(parser)])}' ;;\n"
        for name, parser in parsers.items()
    )
    return f"""\
_weft() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} words
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W '{" ".join(parsers)} --help --version' -- "$word"))
        return
    fi
    case ${{COMP_WORDS[1]}} in
{cases}    esac
    COMPREPLY=($(compgen -W "$words" -- "$word") $(compgen -f -- "$word"))
}}
complete -o filenames -F _weft weft
"""


def _zsh(parsers: Mapping[str, argparse.ArgumentParser]) -> str:
    commands = "\n".join(f"        '{name}:{_quoted(parser.description)}'" for name, parser in parsers.items())
    cases = "\n".join(
        f"        {name}) choices=({' '.join([*options_of(parser), *words_of(parser)])}) ;;"
        for name, parser in parsers.items()
    )
    return f"""\
_weft() {{
    local -a commands choices
    commands=(
{commands}
    )
    if (( CURRENT == 2 )); then
        _describe 'command' commands
        return
    fi
    case ${{words[2]}} in
{cases}
    esac
    compadd -- $choices
    _files
}}
compdef _weft weft
"""


def _fish(parsers: Mapping[str, argparse.ArgumentParser]) -> str:
    lines = []
    for name, parser in parsers.items():
        lines.append(f"complete -c weft -n __fish_use_subcommand -f -a {name} -d '{_quoted(parser.description)}'")
        inside = f"complete -c weft -n '__fish_seen_subcommand_from {name}'"
        for action in parser._actions:
            lines += [
                f"{inside} -l {o[2:]} -d '{_quoted(action.help)}'" for o in action.option_strings if o[:2] == "--"
            ]
        lines += [f"{inside} -f -a {word}" for word in words_of(parser)]
    return "\n".join(lines) + "\n"


def _quoted(text: Any) -> str:
    return str(text or "").replace("'", "").replace(":", "").partition("\n")[0]
