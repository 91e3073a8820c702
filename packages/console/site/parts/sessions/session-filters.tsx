import { NotFoundError } from '@actlog/client';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useConnection } from '../../connection.ts';
import { useFilterForm } from '../../hooks/use-list.ts';
import { hasKnownOwner } from '../../identity.ts';
import { href } from '../../route.ts';
import {
  isMoment,
  nobody,
  presetTimes,
  type SessionSearch,
  setFilters,
  spanWords,
} from '../../sessions/session-search.ts';
import { Field, FilterSelect, submitted, trimmed } from '../field.tsx';

const levels = { '': 'any', low: 'low', medium: 'medium', high: 'high', critical: 'critical' };

const statuses = { '': 'any', errors: 'failed calls', denied: 'denied actions', held: 'held actions' };

const times = { ...presetTimes, days: 'between days…' };

const orders = { '': 'newest first', risk: 'riskiest first' };

/** Returns the choices of people: anyone, the user, nobody, and the person in the address. */
function assignees(me: string | undefined, chosen: string): Readonly<Record<string, string>> {
  return {
    '': 'anyone',
    ...(me !== undefined && { [me]: 'me' }),
    [nobody]: 'nobody',
    ...(chosen !== '' && chosen !== nobody && chosen !== me && { [chosen]: chosen }),
  };
}

/** Bar of filters of the sessions. Every search is a separate location, so Back returns to the one before. */
export function SessionFilters({ search }: { search: SessionSearch }) {
  const { identity } = useConnection();
  const agents = useSuggestions('agentId');
  const tools = useSuggestions('toolName');
  const hasMoments = isMoment(search.since) || isMoment(search.until);
  const hasDays = !hasMoments && search.since === '' && (search.from !== '' || search.until !== '');
  const [choosesDays, setChoosesDays] = useState(hasDays);
  const showsDays = hasDays || choosesDays;
  const form = useFilterForm({
    ...search,
    agent: search.agent || search.agentContains,
    since: showsDays ? 'days' : search.since,
  });
  return (
    <search>
      <form
        ref={form}
        class="filters session-filters"
        onSubmit={submitted((fields) => {
          const given = trimmed(fields);
          const { agent = '', since, ...rest } = given;
          // Without suggestions it is unknown if the service filters by a part of an id.
          const isWhole =
            agents.names === undefined || agents.names.includes(agent) || agent === search.agent;
          const days = since === 'days';
          setChoosesDays(days);
          location.hash = href(['sessions'], {
            ...rest,
            ...(isWhole ? { agent } : { agentContains: agent }),
            ...(!days && {
              since,
              from: '',
              until: hasMoments && since === search.since ? search.until : '',
            }),
          });
        })}
      >
        <SuggestedField label="Agent" name="agent" suggestions={agents} />
        <SuggestedField label="Tool" name="tool" suggestions={tools} />
        <Field label="Session id contains">
          <input name="id" placeholder="any" maxLength={200} autocomplete="off" spellcheck={false} />
        </Field>
        <FilterSelect label="Level" name="level" options={levels} />
        <Field label="Risk score from">
          <input name="risk" type="number" min={0} max={100} step="any" placeholder="0" />
        </Field>
        <FilterSelect label="With" name="status" options={statuses} />
        <FilterSelect
          label="Started"
          name="since"
          options={hasMoments ? { ...times, [search.since]: spanWords(search.since, search.until) } : times}
          onChange={(value) => {
            setChoosesDays(value === 'days');
            return value === 'days';
          }}
        />
        {showsDays && (
          <>
            <Field label="Started from">
              <input name="from" type="date" />
            </Field>
            <Field label="Started until">
              <input name="until" type="date" />
            </Field>
          </>
        )}
        {hasKnownOwner(identity) && (
          <FilterSelect
            label="Assigned to"
            name="assignee"
            options={assignees(identity.name, search.assignee)}
          />
        )}
        <FilterSelect label="Order" name="order" options={orders} />
        <div class="buttons">
          <button type="submit">Filter</button>
          {setFilters(search).length > 0 && (
            <a href={href(['sessions'], { order: search.order })}>Show all</a>
          )}
        </div>
      </form>
    </search>
  );
}

/** Text field that suggests names while the user types. */
export function SuggestedField({
  label,
  name,
  suggestions: { names, request },
}: {
  label: string;
  name: string;
  suggestions: Suggestions;
}) {
  const id = useId();
  return (
    <>
      <Field label={label}>
        <input
          name={name}
          list={id}
          placeholder="any"
          maxLength={200}
          autocomplete="off"
          spellcheck={false}
          onFocus={(event) => request(event.currentTarget.value)}
          onInput={(event) => request(event.currentTarget.value)}
        />
      </Field>
      <datalist id={id}>
        {names?.map((suggested) => (
          <option key={suggested} value={suggested} />
        ))}
      </datalist>
    </>
  );
}

/** Names that a field suggests. */
export interface Suggestions {
  /** Names for the last text; undefined if the service suggests none. */
  readonly names: readonly string[] | undefined;
  /** Requests the names that contain the text. */
  request(text: string): void;
}

/** Suggests names of agents, tools or groups while the user types. Other services than the actlog server suggest nothing. */
export function useSuggestions(field: 'agentId' | 'toolName' | 'approverGroup'): Suggestions {
  const { client } = useConnection();
  const [names, setNames] = useState<readonly string[] | undefined>([]);
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  return {
    names,
    request: (text) => {
      running.current?.abort();
      const controller = new AbortController();
      running.current = controller;
      const query = { field, ...(text !== '' && { contains: text.slice(0, 200) }) };
      client
        .request<{ items: readonly string[] }>('GET', '/server/v1/suggestions', {
          query,
          signal: controller.signal,
        })
        .then(
          ({ items }) => setNames(items),
          // The field works without suggestions too.
          (error) => error instanceof NotFoundError && setNames(undefined),
        );
    },
  };
}
