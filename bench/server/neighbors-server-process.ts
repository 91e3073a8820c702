// A server in a process of its own with the settings that it has by default, and a key of each tenant that is named.
import { startServer } from '@actlog/server';

const [database, ...tenants] = process.argv.slice(2);
const { url, admin } = await startServer({ database, docs: false });
const keys: Record<string, string> = {};
for (const tenant of tenants) {
  await admin.createTenant(tenant);
  keys[tenant] = (await admin.createKey(tenant, { name: tenant })).apiKey;
}
process.send?.({ url, keys });
process.on('disconnect', () => process.exit());
