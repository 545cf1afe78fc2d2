"""Print the completion script of a shell for `tilewright` and `tilewright-opt`, written from the
parsers of their arguments:

  source <(tilewright completion bash)                           # in ~/.bashrc
  tilewright completion zsh > "${fpath[1]}/_tilewright"
  tilewright completion fish > ~/.config/fish/completions/tilewright.fish
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from shlex import quote

from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS
from tilewright.dialects.frozen import frozen
from tilewright.tools.commands.parsers import COMMANDS, command_module, command_parser

_OPT = "tilewright-opt"


@frozen
class Completion:
    """An option, or a positional where it has no flags: the words that may follow, or None where
    it takes no value; `files` where file names may."""

    flags: tuple[str, ...]
    help: str
    words: tuple[str, ...] | None
    files: bool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS))


def run(options: argparse.Namespace) -> None:
    table = {
        name: completions(command_parser(name, command_module(name)), {"TARGET": tuple(TARGETS)})
        for name in COMMANDS
    }
    print("\n".join([*SHELLS[options.shell](table, _opt_completions())]))


def completions(
    parser: argparse.ArgumentParser, named: dict[str, tuple[str, ...]]
) -> list[Completion]:
    """The arguments of a parser; `named` has the words of a metavar or of an argument's name."""
    arguments: list[Completion] = []
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage]: there is no other list
        name = action.metavar if isinstance(action.metavar, str) else action.dest
        words = tuple(map(str, action.choices or named.get(name, named.get(action.dest, ()))))
        files = not words and any(word in name.upper() for word in ("FILE", "DIR", "ARG"))
        value = None if action.nargs == 0 else words
        says = " ".join((action.help or "").split()) % {"prog": parser.prog}
        arguments.append(Completion(tuple(action.option_strings), says, value, files))
    return arguments


def _opt_completions() -> list[Completion]:
    """The arguments of `tilewright-opt`."""
    from tilewright.tools.tilewright_opt import TilewrightOpt

    driver, parser = TilewrightOpt(args=[]), argparse.ArgumentParser(_OPT)
    driver.register_all_arguments(parser)
    return completions(
        parser,
        {
            "passes": tuple(driver.available_passes),
            "target": tuple(driver.available_targets),
            "input_file": (),
        },
    )


Table = dict[str, list[Completion]]

_BASH = """\
# The words $1 that begin as $2 does, behind its last comma.
_tilewright_words() {
  local prefix= word=$2
  [[ $word == *,* ]] && prefix=${word%%,*}, word=${word##*,}
  mapfile -t COMPREPLY < <(compgen -P "$prefix" -W "$1" -- "$word")
}
_tilewright() {
  local command=${1##*/} word=$2 before=$3
  if [[ $command == tilewright ]]; then
    (( COMP_CWORD == 1 )) && { _tilewright_words '%s' "$word"; return; }
    command=${COMP_WORDS[1]}
  fi
  case "$command $before" in
%s
  esac
  case "$command $word" in
%s
  esac
  case "$command" in
%s
  esac
  mapfile -t COMPREPLY < <(compgen -f -- "$word")
}
complete -o filenames -F _tilewright tilewright tilewright-opt"""


def _bash(commands: Table, opt: list[Completion]) -> Iterator[str]:
    values: list[str] = []
    options: list[str] = []
    positionals: list[str] = []
    for name, arguments in {**commands, _OPT: opt}.items():
        flags = " ".join(flag for argument in arguments for flag in argument.flags)
        options.append(f"    '{name} -'*) _tilewright_words '{flags}' \"$word\"; return;;")
        for argument in arguments:
            if not argument.flags and argument.words:
                words = " ".join(argument.words)
                positionals.append(
                    f"    {name}) _tilewright_words '{words}' \"$word\"\n"
                    "      (( ${#COMPREPLY[@]} )) && return;;"
                )
            if argument.flags and argument.words is not None and not argument.files:
                pattern = "|".join(f"'{name} {flag}'" for flag in argument.flags)
                words = " ".join(argument.words)
                values.append(f"    {pattern}) _tilewright_words '{words}' \"$word\"; return;;")
    parts = ("\n".join(part) for part in (values, options, positionals))
    yield _BASH % (" ".join((*commands, "--help", "--version")), *parts)


def _zsh(commands: Table, opt: list[Completion]) -> Iterator[str]:
    yield f"#compdef tilewright {_OPT}"
    yield "_tilewright() {"
    yield f"  if [[ $service == {_OPT} ]]; then _arguments -S {_zsh_specs(opt)}; return; fi"
    yield "  if (( CURRENT == 2 )); then"
    yield "    local -a commands=("
    yield from (f"      {quote(f'{name}:{says}')}" for name, says in COMMANDS.items())
    yield "    )"
    yield "    _describe command commands; return"
    yield "  fi"
    yield "  shift words; (( CURRENT-- ))"
    yield "  case ${words[1]} in"
    yield from (f"    {name}) _arguments -S {_zsh_specs(arguments)};;"
                for name, arguments in commands.items())  # fmt: skip
    yield "  esac"
    yield "}"
    yield 'if [[ $funcstack[1] == _tilewright ]]; then _tilewright "$@"; '
    yield f"else compdef _tilewright tilewright {_OPT}; fi"


def _zsh_specs(arguments: Sequence[Completion]) -> str:
    """The specifications that `_arguments` takes."""
    specs: list[str] = []
    words = [word for argument in arguments if not argument.flags for word in argument.words or ()]
    for argument in arguments:
        says = argument.help.translate({ord(character): f"\\{character}" for character in "[]:"})
        value = "" if argument.words is None else f":value:{_zsh_action(argument)}"
        specs += [f"{flag}[{says}]{value}" for flag in argument.flags]
    others = f"(({' '.join(words)}))" if words else "_files"
    return " ".join(map(quote, [*specs, f"*:argument:{others}"]))


def _zsh_action(argument: Completion) -> str:
    return "_files" if argument.files else f"({' '.join(argument.words or ())})"


def _fish(commands: Table, opt: list[Completion]) -> Iterator[str]:
    for name, says in COMMANDS.items():
        condition = "-n __fish_use_subcommand"
        yield f"complete -c tilewright {condition} -f -a {name} -d {quote(says)}"
    for name, arguments in commands.items():
        yield from _fish_lines(f"tilewright -n '__fish_seen_subcommand_from {name}'", arguments)
    yield from _fish_lines(_OPT, opt)


def _fish_lines(of: str, arguments: Sequence[Completion]) -> Iterator[str]:
    for argument in arguments:
        flags = [("-l " if flag.startswith("--") else "-s ") + flag.lstrip("-")
                 for flag in argument.flags]  # fmt: skip
        if argument.words is not None and flags:
            flags.append("-r" if argument.files else "-x")
        if argument.words:
            flags.append(f"-a {quote(' '.join(argument.words))}")
        if flags:
            yield f"complete -c {of} {' '.join(flags)} -d {quote(argument.help)}"


SHELLS: dict[str, Callable[[Table, list[Completion]], Iterator[str]]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}
