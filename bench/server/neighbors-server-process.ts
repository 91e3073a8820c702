// A server process with default settings, and a key for each named tenant.
import { startServer } from '@actlog/server';

const [database, ...tenants] = process.argv.slice(2);
const { url, admin } = await startServer({ database, docs: false });
const keys: Record<string, string> = {};
for (const tenant of tenants) {
  await admin.tenants.create(tenant);
  keys[tenant] = (await admin.keys.create(tenant, { name: tenant })).apiKey;
}
process.send?.({ url, keys });
process.on('disconnect', () => process.exit());
