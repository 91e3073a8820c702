import { type Actlog, NotFoundError } from '@actlog/client';
import Bot from 'lucide/dist/esm/icons/bot.mjs';
import ListTree from 'lucide/dist/esm/icons/list-tree.mjs';
import { useConnection } from '../connection.ts';
import { useLoaded } from '../hooks/use-loaded.ts';
import { href } from '../route.ts';
import { type Command, type CommandGroup, goTo } from './command.ts';

/** Maximum number of sessions, and of agents. */
const most = 5;

/** Time without a key press after which the service is asked, in milliseconds. */
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
export interface FoundCommands {
  readonly groups: readonly CommandGroup[];
  readonly isSearching: boolean;
  readonly error: unknown;
}

/** Finds sessions and agents whose ids contain a text; for an empty one, the newest sessions and some agents. */
export function useFoundCommands(text: string): FoundCommands {
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
