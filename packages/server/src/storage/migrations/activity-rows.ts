/** The parts of the statements that SQLite and PostgreSQL write differently. */
export interface ActivityDialect {
  /** Name of the function that returns the lower of two values. */
  readonly lower: string;
  /** Value of a field of the payload of a tool call. */
  field(name: 'toolName' | 'responseStatus'): string;
  /** Text that goes before the conflict clause of an insert from a select. */
  readonly beforeConflict: string;
}

const [fiveMinutes, hour, day] = [300_000, 3_600_000, 86_400_000];

/** Age of the oldest counted data, in milliseconds, by the length of the bucket. */
const spans = [
  { span: '5m', length: fiveMinutes, kept: 2 * day, hasNames: false },
  { span: 'hour', length: hour, kept: 32 * day, hasNames: true },
  { span: 'day', length: day, kept: 400 * day, hasNames: true },
] as const;

const maxNames = 40;

const counts = [
  'events',
  'calls',
  'errors',
  'denials',
  'sessions',
  'sessions_low',
  'sessions_medium',
  'sessions_high',
  'sessions_critical',
  'held_actions',
  'decisions_allow',
  'decisions_deny',
  'decisions_require_approval',
] as const;

const key = 'tenant_id, span, kind, bucket_ms, name, slot';

/** Definitions of the columns of the table `activity`, without its constraints. */
export const activityColumns = `
  tenant_id bigint not null,
  span text not null,
  kind text not null,
  bucket_ms bigint not null,
  name text not null,
  slot integer not null,
  ${counts.map((column) => `${column} bigint not null default 0`).join(',\n  ')},
  primary key (${key})
`;

/** Returns the statements that count existing data, for both databases. */
export function activityOfStoredData(dialect: ActivityDialect, nowMs: number): string[] {
  const bucket = (time: string, length: number) => `(${time}) / ${length} * ${length}`;
  const oldest = ({ length, kept }: (typeof spans)[number]) => Math.floor((nowMs - kept) / length) * length;
  const [newest, , oldestSpan] = spans;
  const time = `${dialect.lower}(source_ms, received_ms)`;
  const status = dialect.field('responseStatus');
  const statements = [
    `create table activity_recorded as
     select tenant_id, agent_id, tool_name, bucket_ms, count(*) as events, sum(is_call) as calls,
       sum(case when status >= 400 and status <> 403 then 1 else 0 end) as errors,
       sum(case when status = 403 then 1 else 0 end) as denials
     from (
       select tenant_id, agent_id, case when category = 'tool_api' then 1 else 0 end as is_call,
         case when category = 'tool_api' then ${dialect.field('toolName')} end as tool_name,
         case when category = 'tool_api' then ${status} end as status,
         case when ${time} >= ${oldest(newest)} then ${bucket(time, fiveMinutes)} else ${bucket(time, hour)} end as bucket_ms
       from events
       where category <> 'guardian_decision' and ${time} >= ${oldest(oldestSpan)}
     ) as event
     group by tenant_id, agent_id, tool_name, bucket_ms`,
  ];
  for (const one of spans) {
    const { span, length, hasNames } = one;
    const at = bucket('bucket_ms', length);
    statements.push(
      add(
        dialect,
        ['events', 'calls', 'errors', 'denials'],
        `select tenant_id, '${span}', 'all', ${at}, '', 0, sum(events), sum(calls), sum(errors), sum(denials)
         from activity_recorded where bucket_ms >= ${oldest(one)} group by tenant_id, ${at}`,
      ),
    );
    for (const [kind, column] of hasNames
      ? [['agent', 'agent_id'] as const, ['tool', 'tool_name'] as const]
      : []) {
      statements.push(
        add(
          dialect,
          ['calls', 'errors', 'denials'],
          `select tenant_id, '${span}', '${kind}', bucket_ms, kept_name, 0, sum(calls), sum(errors), sum(denials)
           from (
             select tenant_id, bucket_ms, calls, errors, denials, case when row_number() over (
               partition by tenant_id, bucket_ms order by calls desc, name
             ) <= ${maxNames} then name else '' end as kept_name
             from (
               select tenant_id, ${at} as bucket_ms, ${column} as name, sum(calls) as calls, sum(errors) as errors, sum(denials) as denials
               from activity_recorded where calls > 0 and bucket_ms >= ${oldest(one)} group by tenant_id, ${at}, ${column}
             ) as named
           ) as ranked
           group by tenant_id, bucket_ms, kept_name`,
        ),
      );
    }
    const start = bucket('started_ms', length);
    const ofLevel = (level: string) => `sum(case when risk_level = '${level}' then 1 else 0 end)`;
    statements.push(
      add(
        dialect,
        ['sessions', 'sessions_low', 'sessions_medium', 'sessions_high', 'sessions_critical'],
        `select tenant_id, '${span}', 'all', ${start}, '', 0, count(*), ${['low', 'medium', 'high', 'critical'].map(ofLevel).join(', ')}
         from sessions where started_ms >= ${oldest(one)} group by tenant_id, ${start}`,
      ),
      add(
        dialect,
        ['held_actions'],
        `select tenant_id, '${span}', 'all', ${bucket('created_ms', length)}, '', 0, count(*)
         from pending_actions where created_ms >= ${oldest(one)} group by tenant_id, ${bucket('created_ms', length)}`,
      ),
    );
    const decided = bucket('decided_ms', length);
    const ofDecision = (decision: string) => `sum(case when decision = '${decision}' then 1 else 0 end)`;
    statements.push(
      add(
        dialect,
        ['decisions_allow', 'decisions_deny', 'decisions_require_approval'],
        `select tenant_id, '${span}', 'all', ${decided}, '', 0, ${['allow', 'deny', 'require_approval'].map(ofDecision).join(', ')}
         from policy_decisions where dry_run = 0 and decided_ms >= ${oldest(one)} group by tenant_id, ${decided}`,
      ),
    );
  }
  statements.push('drop table activity_recorded');
  return statements;
}

/** Returns an insert that adds to rows that exist. */
function add(dialect: ActivityDialect, columns: readonly string[], rows: string): string {
  const sums = columns.map((column) => `${column} = activity.${column} + excluded.${column}`).join(', ');
  return `insert into activity (${key}, ${columns.join(', ')}) select * from (${rows}) as counted ${dialect.beforeConflict} on conflict (${key}) do update set ${sums}`;
}
