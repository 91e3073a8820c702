import fuzzysort from 'fuzzysort';
import Search from 'lucide/dist/esm/icons/search.mjs';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useConnection } from '../connection.ts';
import { Icon } from '../parts/icon.tsx';
import { Problem } from '../parts/problem.tsx';
import { offeredSections } from '../sections.ts';
import type { Command, CommandGroup } from './command.ts';
import { CommandOption } from './command-option.tsx';
import { otherCommands, pageCommands } from './fixed-commands.ts';
import { useFoundCommands } from './use-found-commands.ts';

/** Returns the commands whose title matches a text, best first; all of them for an empty text. */
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
