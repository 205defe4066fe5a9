"""From a step of a script to a call of a tool that the agent offers."""

from __future__ import annotations

import shlex
from typing import Any

from model_requests import Request, Tool

# Tried in order; the first one on offer is used.
TOOL_NAMES = {
    "read": ("read_file", "read", "Read", "view_file"),
    "edit": (
        "edit",
        "Edit",
        "replace",
        "str_replace_editor",
        "file_editor",
        "text_editor",
        "developer__text_editor",
        "str_replace_based_edit_tool",
    ),
    "write": (
        "write_file",
        "write",
        "Write",
        "create_file",
        "str_replace_editor",
        "file_editor",
        "text_editor",
        "developer__text_editor",
        "str_replace_based_edit_tool",
    ),
    "shell": (
        "bash",
        "Bash",
        "shell",
        "shell_command",
        "exec_command",
        "local_shell",
        "run_shell_command",
        "terminal",
        "execute_bash",
        "developer__shell",
    ),
}
# How mini-swe-agent's model says that it is done.
SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
# A property's name in a tool's schema -> which value of ours it takes.
PROPERTY = {
    "path": "path",
    "file_path": "path",
    "filePath": "path",
    "filepath": "path",
    "absolute_path": "path",
    "target_file": "path",
    "old": "old",
    "old_string": "old",
    "oldString": "old",
    "old_str": "old",
    "new": "new",
    "new_string": "new",
    "newString": "new",
    "new_str": "new",
    "content": "content",
    "contents": "content",
    "file_text": "content",
    "cmd": "command",
    "script": "command",
}


def filler(schema: dict[str, Any]) -> Any:
    """A harmless value of the type that a schema asks for."""
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type", "string")
    if isinstance(kind, list):
        kind = kind[0]
    kind = str(kind).lower()
    if kind == "object":
        props = schema.get("properties") or {}
        return {k: filler(props.get(k) or {}) for k in schema.get("required") or []}
    return {"integer": 1, "number": 1, "boolean": False, "array": []}.get(kind, "ok")


def _shell_edit(path: str, old: str, new: str) -> str:
    code = (
        "import pathlib,sys; p=pathlib.Path(sys.argv[1]); s=p.read_text(); "
        "assert sys.argv[2] in s, 'old text not found'; "
        "p.write_text(s.replace(sys.argv[2], sys.argv[3], 1))"
    )
    return shlex.join(["python3", "-c", code, path, old, new])


def to_call(step: dict[str, Any], req: Request, workdir: str) -> tuple[str, Any] | None:
    """(tool name, arguments) for a read/edit/write/shell/tool step.

    Arguments are a str for a free-form tool. None: the client offers no tool
    that can do it.
    """
    if "tool" in step:
        return step["tool"], step.get("args", {})
    kind = next(k for k in TOOL_NAMES if k in step)
    path = step[kind] if kind != "shell" else ""
    if path and workdir and not path.startswith("/"):
        path = f"{workdir.rstrip('/')}/{path}"
    values = {
        "path": path,
        "old": step.get("old"),
        "new": step.get("new"),
        "content": step.get("content"),
        "command": step.get("shell"),
    }
    offered = {t.name: t for t in req.tools}
    tool = next((offered[n] for n in TOOL_NAMES[kind] if n in offered), None)
    if tool is None and kind != "shell":  # do it with the shell instead
        tool = next((offered[n] for n in TOOL_NAMES["shell"] if n in offered), None)
        if tool is None:
            return None
        values["command"] = {
            "read": lambda: f"cat {shlex.quote(path)}",
            "edit": lambda: _shell_edit(path, step["old"], step["new"]),
            "write": lambda: f"printf %s {shlex.quote(step['content'])} > {shlex.quote(path)}",
        }[kind]()
        kind = "shell"
    if tool is None:
        return None
    return _fill(tool, kind, values)


def final_call(text: str, req: Request) -> tuple[str, Any] | None:
    """The call that ends the run, for a client that does not end on plain text."""
    offered = {t.name: t for t in req.tools}
    if "finish" in offered:
        return "finish", {"message": text}
    shell = next((offered[n] for n in TOOL_NAMES["shell"] if n in offered), None)
    if shell and SUBMIT in req.text:
        return _fill(shell, "shell", {"command": SUBMIT})
    return None


def _fill(tool: Tool, kind: str, values: dict[str, Any]) -> tuple[str, Any]:
    """A call of this tool with these values under the names that its schema has."""
    if tool.freeform:
        return tool.name, values["command"] or ""
    if tool.name == "local_shell":
        return tool.name, {"command": ["bash", "-lc", values["command"]]}
    props = tool.schema.get("properties") or {}
    required = tool.schema.get("required") or []
    sub = {"read": "view", "edit": "str_replace", "write": "create"}.get(kind)
    args: dict[str, Any] = {}
    for name, prop in props.items():
        if name == "command" and kind == "shell":
            args[name] = ["bash", "-lc", values["command"]] if prop.get("type") == "array" else values["command"]
        elif name == "command" and sub in (prop.get("enum") or []):
            args[name] = sub  # text editors with sub-commands
        elif values.get(PROPERTY.get(name, "")) is not None and (
            name in required or kind in ("edit", "write", "read") or PROPERTY[name] == "command"
        ):
            args[name] = values[PROPERTY[name]]
        elif name in required:
            args[name] = filler(prop)
    return tool.name, args


def to_command(step: dict[str, Any]) -> str:
    """A step as a shell command."""
    if "text" in step:
        return SUBMIT
    if "shell" in step:
        return str(step["shell"])
    if "read" in step:
        return f"cat {shlex.quote(step['read'])}"
    if "edit" in step:
        return _shell_edit(step["edit"], step["old"], step["new"])
    return f"printf %s {shlex.quote(step['content'])} > {shlex.quote(step['write'])}"


def to_text(step: dict[str, Any], style: str) -> str:
    """A step as text, for a client that offers no tools."""
    say = step.get("say", "")
    if style == "mswea":
        say = step.get("text") or say or "Next step."
        return f"{say}\n\n```mswea_bash_command\n{to_command(step)}\n```"
    if "edit" in step:  # aider's diff edit format
        return (
            f"{say}\n\n{step['edit']}\n```python\n<<<<<<< SEARCH\n{step['old']}\n=======\n"
            f"{step['new']}\n>>>>>>> REPLACE\n```\n"
        )
    if "write" in step:  # aider's whole edit format
        return f"{say}\n\n{step['write']}\n```\n{step['content']}\n```\n"
    return str(step.get("text") or step.get("reply") or say)
