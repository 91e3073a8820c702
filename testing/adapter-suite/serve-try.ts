import { startServer } from '@actlog/server';
import { Actlog } from '@actlog/client';
const s = await startServer({ port: 0 });
process.env.ACTLOG_BASE_URL = s.url; process.env.ACTLOG_API_KEY = s.apiKey; process.env.ACTLOG_AGENT_ID = 'snip';
await import(process.argv[2] as string);
const c = new Actlog({ baseURL: s.url, apiKey: s.apiKey });
for (const x of await c.sessions.events(process.argv[3] as string).toArray({ limit: 10 })) console.log(x.agentId, x.payload);
await s.close();
