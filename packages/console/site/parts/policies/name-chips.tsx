import Plus from 'lucide/dist/esm/icons/plus.mjs';
import X from 'lucide/dist/esm/icons/x.mjs';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Field } from '../field.tsx';
import { Icon } from '../icon.tsx';

/** Number of names that are shown until the user asks for the others. */
const shownAtFirst = 8;

/** Suggestions for what the user types. */
interface Suggestions {
  readonly names: readonly string[] | undefined;
  request(text: string): void;
}

/** Field of a form for several names. */
export function NamesField({
  label,
  hint,
  isInline = false,
  ...names
}: {
  label: string;
  hint?: string;
  /** `true` if it is part of a sentence, whose words are its visible label. */
  isInline?: boolean;
} & Omit<Parameters<typeof NameChips>[0], 'id'>) {
  return (
    <Field label={label} isInline={isInline} {...(hint !== undefined && { hint })}>
      <NameChips {...names} />
    </Field>
  );
}

/**
 * Text field for several names, which are shown beside it. A form has each of them under the name of the field, and also
 * what was typed and not added.
 */
function NameChips({
  name,
  initial,
  placeholder,
  suggestions,
  separator = /[\r\n,]/,
  isReadOnly = false,
  onChange,
  ...attributes
}: {
  name: string;
  /** Names, each on a line. */
  initial: string;
  /** Text for no name. */
  placeholder: string;
  suggestions?: Suggestions | undefined;
  /** Ends a name while the user types. Default: a comma or a new line. */
  separator?: RegExp;
  isReadOnly?: boolean;
  /** Called after a name was added or removed. */
  onChange: () => void;
  /** Set by the field around it. */
  id?: string;
}) {
  const [names, setNames] = useState(() => initial.split('\n').filter(Boolean));
  const [showsAll, showAll] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const isFirst = useRef(true);
  const list = useId();
  useEffect(() => {
    if (!isFirst.current) onChange();
    isFirst.current = false;
  }, [names]);
  const add = (text: string) => {
    const given = text.split(separator).map((part) => part.trim());
    setNames((before) => [...new Set([...before, ...given.filter(Boolean)])]);
    if (input.current) input.current.value = '';
  };
  const shown = showsAll ? names : names.slice(0, shownAtFirst);
  return (
    <span class="chips">
      {shown.map((one) => (
        <span key={one} class="chip">
          <bdi translate={false}>{one}</bdi>
          {!isReadOnly && (
            <button
              type="button"
              class="chip-end"
              aria-label={`Remove ${one}`}
              onClick={() => {
                setNames(names.filter((other) => other !== one));
                input.current?.focus();
              }}
            >
              <Icon of={X} />
            </button>
          )}
        </span>
      ))}
      {names.map((one) => (
        <input key={one} type="hidden" name={name} value={one} />
      ))}
      {shown.length < names.length && (
        <button type="button" class="link" onClick={() => showAll(true)}>
          and {names.length - shown.length} more
        </button>
      )}
      <input
        {...attributes}
        ref={input}
        name={name}
        list={list}
        readOnly={isReadOnly}
        placeholder={names.length === 0 ? placeholder : isReadOnly ? '' : 'or…'}
        autocomplete="off"
        spellcheck={false}
        onFocus={(event) => suggestions?.request(event.currentTarget.value)}
        onInput={(event) => {
          const { value } = event.currentTarget;
          if (separator.test(value)) add(value);
          else suggestions?.request(value);
        }}
        onPaste={(event) => {
          const pasted = event.clipboardData?.getData('text') ?? '';
          // A field of one line would join the lines.
          if (!/[\r\n]/.test(pasted)) return;
          event.preventDefault();
          add(pasted.replaceAll(/\r\n?/g, '\n'));
        }}
        onKeyDown={(event) => {
          const { value } = event.currentTarget;
          if (event.key === 'Enter' && value.trim() !== '') {
            event.preventDefault();
            add(value);
          } else if (event.key === 'Backspace' && value === '' && !event.repeat && !isReadOnly) {
            setNames(names.slice(0, -1));
          }
        }}
      />
      <datalist id={list}>
        {suggestions?.names
          ?.filter((one) => !names.includes(one))
          .map((one) => (
            <option key={one} value={one} />
          ))}
      </datalist>
    </span>
  );
}

/** Button that adds a row to a list of inputs. */
export function AddButton({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <button type="button" class="add" onClick={onClick}>
      <Icon of={Plus} />
      {label}
    </button>
  );
}

/** Button that removes a row from a list of inputs. */
export function RemoveButton({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <button type="button" class="chip-end" aria-label={label} onClick={onClick}>
      <Icon of={X} />
    </button>
  );
}
