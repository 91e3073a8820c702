import { TOOL_TAGS, type ToolTag } from '@actlog/risk';
import { Command } from 'commander';
import { administer, print, type TenantFlags, tenantCommand } from './tenant-flags.ts';

/** Words in the place of tags: the tool has none, or goes by its name again. */
const none = 'none';
const byName = 'default';

function tagsFrom(text: string): ToolTag[] | null {
  if (text === byName) return null;
  return text === none ? [] : (text.split(',') as ToolTag[]);
}

/** `tags`: what the risk engine takes a tenant's tools for. */
export function tagsCommand(): Command {
  const tags = new Command('tags').description('correct what the risk engine takes tools for');
  tenantCommand(
    tags,
    'set <tool> <tags>',
    `give a tool tags of ${TOOL_TAGS.join(',')}, or "${none}"; "${byName}" goes by its name again. It holds for sessions that begin from now on`,
  ).action((tool: string, text: string, { database, tenant }: TenantFlags) =>
    administer(database, (admin) => admin.setToolTags(tenant, { [tool]: tagsFrom(text) })),
  );
  tenantCommand(tags, 'list', 'list the tools whose tags the tenant has corrected').action(
    ({ database, tenant }: TenantFlags) =>
      administer(database, async (admin) => {
        for (const [tool, names] of Object.entries(await admin.toolTags(tenant))) {
          print(`${tool}\t${names.join(',') || none}`);
        }
      }),
  );
  return tags;
}
