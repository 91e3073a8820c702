import { type Actlog, NotFoundError } from '@actlog/client';
import fuzzysort from 'fuzzysort';
import type { IconNode } from 'lucide';
import BookOpen from 'lucide/dist/esm/icons/book-open.mjs';
import Bot from 'lucide/dist/esm/icons/bot.mjs';
import Braces from 'lucide/dist/esm/icons/braces.mjs';
import ListTree from 'lucide/dist/esm/icons/list-tree.mjs';
import LogOut from 'lucide/dist/esm/icons/log-out.mjs';
import Search from 'lucide/dist/esm/icons/search.mjs';
import SunMoon from 'lucide/dist/esm/icons/sun-moon.mjs';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useConnection } from '../connection.ts';
import { useLoaded } from '../hooks/use-loaded.ts';
import { Icon } from '../parts/icon.tsx';
import { Problem } from '../parts/problem.tsx';
import { RiskScore } from '../parts/risk/risk-score.tsx';
import { chooseColorScheme, colorSchemes } from '../preference.ts';
import { href, offeredSections, pathOf, type SectionGroup } from '../route.ts';

/** Returns the commands whose title matches the search text, best first; all of them if it is empty. */
function matching(commands: readonly Command[], text: string): readonly Command[] {
  if (text === '') return commands;
  return fuzzysort.go(text, commands, { key: 'title', limit: 8 }).map(({ obj }) => obj);
}

/** Dialog that leads to pages, sessions by id and agents, and runs commands: a combobox with its list. */
export function CommandPalette({ onClose }: { onClose: () => void }) {
  const { identity, signOut } = useConnection();
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const listId = useId();
  const found = useFoundCommands(text.trim());
  const all: readonly CommandGroup[] = [
    { title: 'Pages', commands: matching(pageCommands(offeredSections(identity)), text.trim()) },
    ...found.groups,
    { title: 'Commands', commands: matching(otherCommands(signOut), text.trim()) },
  ];
  const groups = all.filter(({ commands }) => commands.length > 0);
  const commands = groups.flatMap((group) => group.commands);
  const current = commands[Math.min(chosen, commands.length - 1)];
  const optionId = (command: Command) => `${listId}-${command.id}`;

  useLayoutEffect(() => dialog.current?.showModal(), []);
  useLayoutEffect(() => {
    if (current) document.getElementById(optionId(current))?.scrollIntoView({ block: 'nearest' });
  }, [current?.id]);

  const run = (command: Command | undefined) => {
    if (command === undefined) return;
    dialog.current?.close();
    command.run();
  };
  const keys: Readonly<Record<string, () => void>> = {
    ArrowDown: () => setChosen((chosen + 1) % commands.length),
    ArrowUp: () => setChosen((chosen + commands.length - 1) % commands.length),
    Home: () => setChosen(0),
    End: () => setChosen(commands.length - 1),
    Enter: () => run(current),
  };

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard closes a dialog with Escape
    <dialog
      ref={dialog}
      class="command-palette"
      aria-label="Search"
      onClose={onClose}
      // A press beside the dialog arrives at the dialog itself.
      onClick={({ target, currentTarget }) => target === currentTarget && currentTarget.close()}
    >
      <div class="search-field">
        <Icon of={Search} />
        <input
          role="combobox"
          aria-label="Search pages, sessions and agents"
          aria-expanded="true"
          aria-autocomplete="list"
          aria-controls={listId}
          aria-activedescendant={current && optionId(current)}
          placeholder="Search pages, sessions and agents"
          autocomplete="off"
          spellcheck={false}
          maxLength={200}
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            setChosen(0);
          }}
          onKeyDown={(event) => {
            const act = event.isComposing || commands.length === 0 ? undefined : keys[event.key];
            if (act === undefined) return;
            event.preventDefault();
            act();
          }}
        />
      </div>
      <div id={listId} role="listbox" aria-label="Results">
        {groups.map(({ title, commands: shown }) => (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset is for what a form sends
          <div key={title} role="group" aria-label={title}>
            <span aria-hidden="true">{title}</span>
            {shown.map((command) => (
              <CommandOption
                key={command.id}
                id={optionId(command)}
                command={command}
                isChosen={command === current}
                onPoint={() => setChosen(commands.indexOf(command))}
                onRun={() => run(command)}
              />
            ))}
          </div>
        ))}
      </div>
      <p class="hidden" role="status">
        {found.isSearching ? 'Searching…' : `${commands.length} results`}
      </p>
      {commands.length === 0 && !found.isSearching && (
        <p class="empty">No page, session or agent has “{text.trim()}” in its name.</p>
      )}
      <Problem error={found.error} />
    </dialog>
  );
}

/** One entry of the command palette. */
function CommandOption({
  id,
  command: { title, icon, keys, risk },
  isChosen,
  onPoint,
  onRun,
}: {
  id: string;
  command: Command;
  /** `true` for the entry that Enter runs. */
  isChosen: boolean;
  /** Called when the pointer moves over the entry. */
  onPoint: () => void;
  onRun: () => void;
}) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the combobox keeps the focus
    // biome-ignore lint/a11y/useKeyWithClickEvents: the combobox handles the keys
    <div id={id} role="option" aria-selected={isChosen} onPointerMove={onPoint} onClick={onRun}>
      <Icon of={icon} />
      <span>{title}</span>
      {keys && <kbd>{keys.join(' ')}</kbd>}
      {risk !== undefined && <RiskScore risk={risk} />}
    </div>
  );
}

/** Returns the commands that lead to the pages. */
function pageCommands(groups: readonly SectionGroup[]): readonly Command[] {
  const pages = groups.flatMap(({ sections }) => sections);
  return pages.map((section) => ({
    id: `page-${section.place}`,
    title: section.title,
    icon: section.icon,
    keys: ['g', section.key],
    run: goTo(href(pathOf(section))),
  }));
}

/** Returns the other commands of the sidebar. */
function otherCommands(signOut: (() => void) | undefined): readonly Command[] {
  return [
    ...colorSchemes.map((scheme) => ({
      id: `color-scheme-${scheme}`,
      title: `Color scheme: ${scheme}`,
      icon: SunMoon,
      run: () => chooseColorScheme(scheme),
    })),
    { id: 'docs', title: 'Docs', icon: BookOpen, run: goTo('../docs/') },
    { id: 'api', title: 'API', icon: Braces, run: goTo('../openapi.json') },
    ...(signOut ? [{ id: 'sign-out', title: 'Sign out', icon: LogOut, run: signOut }] : []),
  ];
}

/** Maximum number of sessions, and of agents. */
const most = 5;

/** Time without a key press before a request to the service, in milliseconds. */
const pauseMs = 150;

async function sessionsWith(client: Actlog, text: string, signal: AbortSignal): Promise<Command[]> {
  const { items } = await client.sessions.list(
    { limit: most, ...(text && { idContains: text }) },
    { signal },
  );
  return items.map(({ id, risk }) => ({
    id: `session-${id}`,
    title: id,
    icon: ListTree,
    risk,
    run: goTo(href(['sessions', id])),
  }));
}

/** Other services than the actlog server suggest nothing. */
async function agentsWith(client: Actlog, text: string, signal: AbortSignal): Promise<Command[]> {
  const query = { field: 'agentId', ...(text && { contains: text }) };
  try {
    const path = '/server/v1/suggestions';
    const { items } = await client.request<{ items: readonly string[] }>('GET', path, { query, signal });
    return items.slice(0, most).map((id) => ({
      id: `agent-${id}`,
      title: id,
      icon: Bot,
      run: goTo(href(['sessions'], { agent: id })),
    }));
  } catch (error) {
    if (error instanceof NotFoundError) return [];
    throw error;
  }
}

/** Sessions and agents that the service found. */
interface FoundCommands {
  readonly groups: readonly CommandGroup[];
  readonly isSearching: boolean;
  readonly error: unknown;
}

/** Finds sessions and agents whose ids contain the text; if it is empty, the newest sessions and some agents. */
function useFoundCommands(text: string): FoundCommands {
  const { client } = useConnection();
  const { data, error } = useLoaded(`find ${text}`, async (signal) => {
    if (text !== '') await new Promise((resolve) => setTimeout(resolve, pauseMs));
    signal.throwIfAborted();
    const [sessions, agents] = await Promise.all([
      sessionsWith(client, text, signal),
      agentsWith(client, text, signal),
    ]);
    return [
      { title: text === '' ? 'Newest sessions' : 'Sessions', commands: sessions },
      { title: 'Sessions of an agent', commands: agents },
    ];
  });
  return { groups: data ?? [], isSearching: data === undefined && error === undefined, error };
}

/** One entry of the command palette. */
interface Command {
  /** Unique among the entries that are shown. */
  readonly id: string;
  readonly title: string;
  readonly icon: IconNode;
  /** Keys that do the same. */
  readonly keys?: readonly string[];
  /** Risk of a session. */
  readonly risk?: { readonly score: number; readonly level: string } | null | undefined;
  readonly run: () => void;
}

/** Entries under one heading. */
interface CommandGroup {
  readonly title: string;
  readonly commands: readonly Command[];
}

/** Returns a function that goes to a location. */
function goTo(location: string): () => void {
  return () => {
    window.location.href = location;
  };
}
