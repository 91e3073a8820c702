import { useEffect, useRef, useState } from 'preact/hooks';
import { useAction } from '../hooks/use-action.ts';
import type { ListedPage } from '../hooks/use-list.ts';
import { keepPreference, readPreference } from '../preference.ts';
import { href } from '../route.ts';
import { saveFile } from '../save-file.ts';
import { submitted } from './field.tsx';
import { Problem } from './problem.tsx';

/** Maximum items of a file. More of them are for the command, which streams to a disk. */
const maxSavedItems = 50_000;

/** Columns of a CSV file: the value of an item by the name of the column. */
export type CsvColumns<Item> = Readonly<Record<string, (item: Item) => unknown>>;

/** Returns a line of CSV. A cell that a spreadsheet would take for a formula begins with an apostrophe. */
export function csvLine(values: readonly unknown[]): string {
  const cells = values.map((value) => {
    if (value === null || value === undefined) return '';
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  });
  return `${cells.join()}\r\n`;
}

/** Buttons that save the items of a list, all its pages, as CSV or as JSON Lines. */
export function SaveList<Item>({
  name,
  columns,
  list,
}: {
  /** Name of the file, without its ending. */
  name: string;
  columns: CsvColumns<Item>;
  /** Requests the page at a cursor; the first without one. */
  list: (page: { readonly cursor?: string }, signal: AbortSignal) => PromiseLike<ListedPage<Item>>;
}) {
  const running = useRef<AbortController>(undefined);
  const [count, setCount] = useState(0);
  const [isCut, setCut] = useState(false);
  useEffect(() => () => running.current?.abort(), []);
  const save = useAction(async (kind: 'csv' | 'jsonl') => {
    const controller = new AbortController();
    running.current = controller;
    const { signal } = controller;
    const lineOf = (item: Item) =>
      kind === 'csv'
        ? csvLine(Object.values(columns).map((read) => read(item)))
        : `${JSON.stringify(item)}\n`;
    // Lines of a page become one part, so that the memory is that of the file.
    const parts: string[] = kind === 'csv' ? [csvLine(Object.keys(columns))] : [];
    let saved = 0;
    let cursor: string | null | undefined;
    setCount(0);
    setCut(false);
    try {
      do {
        const page = await list(typeof cursor === 'string' ? { cursor } : {}, signal);
        const items = page.items.slice(0, maxSavedItems - saved);
        parts.push(items.map(lineOf).join(''));
        saved += items.length;
        cursor = page.nextCursor;
        setCount(saved);
      } while (cursor !== null && saved < maxSavedItems && !signal.aborted);
      if (signal.aborted) return;
      setCut(cursor !== null);
      const type = kind === 'csv' ? 'text/csv;charset=utf-8' : 'application/x-ndjson';
      saveFile(`${name}.${kind}`, new Blob(parts, { type }));
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  });
  return (
    <div class="list-tools save-list">
      {save.isBusy ? (
        <button type="button" class="quiet" onClick={() => running.current?.abort()}>
          Cancel
        </button>
      ) : (
        <>
          <span class="faint">Save as</span>
          <button type="button" class="quiet" aria-label="Save as CSV" onClick={() => save.run('csv')}>
            CSV
          </button>
          <button
            type="button"
            class="quiet"
            aria-label="Save as JSON Lines"
            onClick={() => save.run('jsonl')}
          >
            JSON Lines
          </button>
        </>
      )}
      <span role="status" class="faint">
        {save.isBusy && `${count} rows so far`}
        {!save.isBusy && isCut && `The file has the first ${count} rows; the command saves all.`}
      </span>
      <Problem error={save.error} />
    </div>
  );
}

/** A search that the user kept in this browser. */
interface SavedView {
  readonly name: string;
  /** Query of the address. */
  readonly query: string;
}

const maxViews = 20;

function viewsOf(place: string): readonly SavedView[] {
  try {
    const kept: unknown = JSON.parse(readPreference(`views.${place}`) ?? '[]');
    const isView = (view: unknown): view is SavedView => {
      const { name, query } = (view ?? {}) as Readonly<Record<string, unknown>>;
      return typeof name === 'string' && typeof query === 'string';
    };
    return Array.isArray(kept) ? kept.filter(isView) : [];
  } catch {
    return [];
  }
}

/** Searches of a page that the user kept under a name, and the way to keep the current one. */
export function SavedViews({ place, query }: { place: string; query: URLSearchParams }) {
  const [views, setViews] = useState(() => viewsOf(place));
  const [isNaming, setNaming] = useState(false);
  const keep = (changed: readonly SavedView[]) => {
    keepPreference(`views.${place}`, JSON.stringify(changed));
    setViews(changed);
  };
  const current = String(query);
  const isKept = views.some((view) => view.query === current);
  if (views.length === 0 && current === '') return null;
  return (
    <div class="list-tools">
      {views.length > 0 && (
        <ul class="saved-views" aria-label="Saved views">
          {views.map((view) => (
            <li key={view.name}>
              <a
                href={href([place], Object.fromEntries(new URLSearchParams(view.query)))}
                aria-current={view.query === current ? 'page' : undefined}
              >
                {view.name}
              </a>
              <button
                type="button"
                class="quiet forget"
                aria-label={`Forget the view ${view.name}`}
                onClick={() => keep(views.filter((other) => other !== view))}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      {current !== '' && !isKept && !isNaming && views.length < maxViews && (
        <button type="button" class="quiet" onClick={() => setNaming(true)}>
          Save this view
        </button>
      )}
      {isNaming && (
        <form
          class="saved-view"
          onSubmit={submitted((fields) => {
            const name = String(fields.get('name')).trim();
            if (name === '') return;
            keep([...views.filter((view) => view.name !== name), { name, query: current }]);
            setNaming(false);
          })}
        >
          <input
            name="name"
            aria-label="Name of the view"
            placeholder="Name of the view"
            maxLength={60}
            autocomplete="off"
            ref={(input) => input?.focus()}
          />
          <button type="submit">Save</button>
          <button type="button" class="quiet" onClick={() => setNaming(false)}>
            Cancel
          </button>
        </form>
      )}
    </div>
  );
}
