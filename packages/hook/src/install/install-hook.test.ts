import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type AgentName, agents } from '../dialects/dialect.ts';
import { agentSettings } from './agent-settings.ts';
import { installHook, removeHook } from './install-hook.ts';

const root = mkdtempSync(join(tmpdir(), 'actlog-install-'));
afterAll(() => rmSync(root, { recursive: true }));

const script = '/opt/node_modules/actlog/dist/bin.js';
const names = Object.keys(agents) as AgentName[];

/** Creates a home, optionally with a settings file, and returns the place and the path of the file. */
function newHome(agent: AgentName, text?: string) {
  const homeFolder = mkdtempSync(join(root, 'home-'));
  const place = { homeFolder, script };
  const file = agentSettings[agent].file(place);
  mkdirSync(dirname(file), { recursive: true });
  if (text !== undefined) writeFileSync(file, text);
  return { place, file, text: () => readFileSync(file, 'utf8') };
}

/** Settings in various forms, whose text a removal must restore. */
const texts: Readonly<Record<string, string>> = {
  'an empty object': '{}',
  'an empty object with a line break': '{\n}\n',
  'other settings': '{\n  "model": "opus",\n  "permissions": { "allow": ["Bash(ls)"] }\n}\n',
  'one line': '{"model":"opus","theme":"dark"}',
  tabs: '{\n\t"model": "opus"\n}\n',
  'Windows line endings': '{\r\n    "model": "opus"\r\n}\r\n',
  comments: '// mine\n{\n  /* before */ "model": "opus" // after\n  // last\n}\n',
  'a trailing comma': '{\n  "model": "opus",\n}\n',
  'empty hooks': '{\n  "hooks": {}\n}\n',
  'no final line break': '{\n  "theme": "dark"\n}',
};

describe.each(names)('%s', (agent) => {
  const [event = ''] = agentSettings[agent]
    .entries(() => '', { beforeSeconds: 1, otherSeconds: 1, isFailClosed: false, holdsPrompts: false })
    .map((entry) => entry.event);

  it('creates a missing file, and removes it again', () => {
    const { place, file, text } = newHome(agent);
    expect(installHook(agent, place)).toMatchObject({ file, outcome: 'installed' });
    expect(JSON.parse(text())).toMatchObject({
      ...agentSettings[agent].base,
      hooks: { [event]: [expect.anything()] },
    });
    expect(removeHook(agent, place)).toEqual({ file, outcome: 'removed', notes: [] });
    expect(existsSync(file)).toBe(false);
  });

  it.each(Object.entries(texts))('restores the text of %s', (_name, before) => {
    const { place, text } = newHome(agent, before);
    installHook(agent, place);
    expect(text()).toContain(`hook ${agent}`);
    expect(removeHook(agent, place).outcome).toBe('removed');
    expect(text()).toBe(before);
  });

  it('changes nothing when it is installed already', () => {
    const { place, text } = newHome(agent, texts['other settings']);
    installHook(agent, place);
    const installed = text();
    expect(installHook(agent, place).outcome).toBe('unchanged');
    expect(text()).toBe(installed);
  });

  it('updates its options, in one entry for each event', () => {
    const { place, text } = newHome(agent, texts['other settings']);
    installHook(agent, place);
    const change = installHook(agent, {
      ...place,
      guard: 'enforce',
      onUnavailable: 'deny',
      holdTimeoutSeconds: 60,
    });
    expect(change.outcome).toBe('updated');
    expect(text()).toContain(`hook ${agent} --guard enforce --on-unavailable deny --hold-timeout 60`);
    expect(JSON.parse(text()).hooks[event]).toHaveLength(1);
    removeHook(agent, place);
    expect(text()).toBe(texts['other settings']);
  });

  it('leaves hooks of others untouched', () => {
    const [entry] = agentSettings[agent].entries(() => 'lint.sh', {
      beforeSeconds: 5,
      otherSeconds: 5,
      isFailClosed: false,
      holdsPrompts: false,
    });
    const before = `${JSON.stringify({ ...agentSettings[agent].base, hooks: { [event]: [entry?.entry] } }, undefined, 2)}\n`;
    const { place, text } = newHome(agent, before);
    installHook(agent, place);
    expect(JSON.parse(text()).hooks[event]).toEqual([entry?.entry, expect.anything()]);
    removeHook(agent, place);
    expect(text()).toBe(before);
  });

  it('leaves no other file behind', () => {
    const { place, file } = newHome(agent, texts['other settings']);
    installHook(agent, place);
    removeHook(agent, place);
    expect(readdirSync(dirname(file))).toEqual([file.slice(dirname(file).length + 1)]);
  });

  it('has nothing to remove where it was not installed', () => {
    const { place, file, text } = newHome(agent, texts['other settings']);
    expect(removeHook(agent, place)).toEqual({ file, outcome: 'unchanged', notes: [] });
    expect(text()).toBe(texts['other settings']);
  });
});

it.each(['claude-code', 'codex'] as const)('installs the hook for the permission prompts of %s', (agent) => {
  const { place, text } = newHome(agent);
  installHook(agent, { ...place, holdPrompts: true, holdTimeoutSeconds: 60 });
  const [entry] = JSON.parse(text()).hooks.PermissionRequest;
  expect(entry.hooks[0]).toMatchObject({ timeout: 95 });
  installHook(agent, place);
  expect(JSON.parse(text()).hooks.PermissionRequest).toBeUndefined();
});

it('refuses to hold the prompts of an agent without a hook for them', () => {
  const { place } = newHome('cursor');
  expect(() => installHook('cursor', { ...place, holdPrompts: true })).toThrow(
    'holdPrompts is for claude-code and codex, whose permission prompts a hook can answer, got cursor.',
  );
});

it('writes to the project for the scope project', () => {
  const projectFolder = mkdtempSync(join(root, 'project-'));
  const { file } = installHook('claude-code', { scope: 'project', projectFolder, script });
  expect(file).toBe(join(projectFolder, '.claude', 'settings.json'));
});

it('starts the installed command by its path, with time for an approval', () => {
  const { place, text } = newHome('claude-code');
  installHook('claude-code', { ...place, envFile: '/home/ann lee/actlog.env' });
  expect(JSON.parse(text()).hooks.PreToolUse).toEqual([
    {
      hooks: [
        {
          type: 'command',
          command: `${process.execPath} ${script} hook claude-code --variables '/home/ann lee/actlog.env'`,
          timeout: 335,
        },
      ],
    },
  ]);
});

it('is started by npx, with a note about the cost, where there is no installed command', () => {
  const { place, text } = newHome('claude-code');
  const cached = '/home/ann/.npm/_npx/1a2b3c/node_modules/actlog/dist/bin.js';
  const { notes } = installHook('claude-code', { ...place, script: cached });
  expect(JSON.parse(text()).hooks.PreToolUse[0].hooks[0].command).toBe('npx --yes actlog hook claude-code');
  expect(notes).toEqual([expect.stringMatching(/300 ms.*npm install --global actlog/)]);
});

it('is started by npx when a program installs it that is not the command', () => {
  const { place, text } = newHome('claude-code', texts['other settings']);
  installHook('claude-code', { ...place, script: '/home/ann/install.mjs' });
  expect(JSON.parse(text()).hooks.PreToolUse[0].hooks[0].command).toBe('npx --yes actlog hook claude-code');
  removeHook('claude-code', place);
  expect(text()).toBe(texts['other settings']);
});

it('makes the agent block calls when a fail-closed hook fails', () => {
  const failClosed = { guard: 'enforce', onUnavailable: 'deny' } as const;
  const claude = newHome('claude-code');
  installHook('claude-code', { ...claude.place, ...failClosed });
  const { hooks } = JSON.parse(claude.text());
  expect(hooks.PreToolUse[0].hooks[0].onFailure).toBe('block');
  expect(hooks.PostToolUse[0].hooks[0].onFailure).toBeUndefined();
  const cursor = newHome('cursor');
  installHook('cursor', { ...cursor.place, ...failClosed });
  expect(JSON.parse(cursor.text()).hooks.preToolUse[0].failClosed).toBe(true);
});

it('follows a symbolic link to the settings', () => {
  const { place, file } = newHome('claude-code');
  const dotfile = join(place.homeFolder, 'dotfiles.json');
  writeFileSync(dotfile, '{}\n');
  symlinkSync(dotfile, file);
  installHook('claude-code', place);
  expect(readFileSync(dotfile, 'utf8')).toContain('hook claude-code');
});

it('says that Codex has to trust the hook, and that its configuration turns hooks off', () => {
  const { place, file } = newHome('codex');
  writeFileSync(join(dirname(file), 'config.toml'), 'model = "gpt-5"\n\n[features]\nhooks = false\n');
  expect(installHook('codex', place).notes).toEqual([
    expect.stringContaining('/hooks'),
    expect.stringContaining('hooks = true'),
  ]);
});

it('names the line of settings that are not valid JSON, and leaves them alone', () => {
  const { place, file, text } = newHome('claude-code', '{\n  "model" "opus"\n}\n');
  expect(() => installHook('claude-code', place)).toThrow(
    `${file} is not valid JSON (ColonExpected in line 2)`,
  );
  expect(text()).toBe('{\n  "model" "opus"\n}\n');
});

it('names a part of the settings that has another form', () => {
  const { place } = newHome('claude-code', '{"hooks": []}');
  expect(() => installHook('claude-code', place)).toThrow('"hooks" must be an object, got array');
});

it('lists the agents for an unknown one', () => {
  expect(() => installHook('vim' as AgentName)).toThrow('agent must be one of claude-code, codex');
});
