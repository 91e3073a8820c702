/** Classes of verbs by their effect on the object. The order is part of the stored format: append only. */
export const verbClasses = [
  'read',
  'search',
  'compute',
  'write',
  'send',
  'publish',
  'share',
  'delete',
  'pay',
  'exec',
  'admin',
  'auth',
  'remember',
  'delegate',
  'drive',
] as const;

/** One of {@link verbClasses}. */
export type VerbClass = (typeof verbClasses)[number];

/** A verb: its class, and `true` for words that are verbs anywhere in a name. */
export interface Verb {
  readonly class: VerbClass;
  readonly strong: boolean;
}

const strongWords: Record<VerbClass, string> = {
  read: `get list read fetch retrieve show view describe inspect load peek dump tail cat head download pull query
    check verify enumerate find browse crawl scrape extract access see watch obtain receive print stat collect
    gather open export count monitor ls dir scan preview screenshot display visit diff blame ping has whoami
    introspect gets finds lists reads render transcribe ocr recall select observe aggregate`,
  search: 'search grep ripgrep glob discover explore ask lookup autocomplete suggest recommend research',
  compute: `calculate compute convert summarize summarise translate analyze analyse compare validate parse format
    classify evaluate estimate predict think reason reflect sleep wait finish generate encode decode detect lint
    visualize tokenize embed rank sort filter solve simulate respond brainstorm hash roll explain benchmark
    diagnose geocode echo multiply subtract divide sum plan`,
  write: `create add write update edit modify set put insert append save store replace rename move copy patch upsert
    change make complete close reopen resolve assign unassign mark label tag untag link unlink attach upload import
    sync init initialize commit stage rebase fork star unstar pin unpin reschedule duplicate clone record annotate
    configure toggle enable start begin apply build draft enter increment transition correct merge snooze accept
    reject approve decline dismiss finalize manage initiate turn fill rate vote like follow unfollow join leave customize reorder rearrange resize crop
    compress split combine stash restore backup lock unlock mutate alter migrate mkdir touch mv cp unarchive
    favorite bookmark submit acknowledge push register archive`,
  send: 'send notify reply react forward dispatch announce whisper dial resend deliver fax emit',
  publish: 'publish tweet retweet release broadcast toot',
  share: 'share invite expose',
  delete: `delete remove destroy drop purge erase wipe clear trash truncate cancel uninstall rm rmdir discard prune
    flush clean cleanup del kill terminate expire unset unpublish unregister reset`,
  pay: `pay buy purchase withdraw refund reserve donate subscribe tip remit payout repay disburse reimburse wire swap
    bid sell mint redeem rent checkout`,
  exec: `exec execute eval run spawn launch sudo install compile interpret npx pip bash zsh powershell psql repl
    subprocess invoke trigger retry`,
  admin: `grant revoke ban unban kick promote demote suspend block unblock impersonate authorize elevate deploy undeploy
    scale restart reboot shutdown provision rollback rollout upgrade downgrade deprovision disable chmod chown stop pause resume drain cordon
    failover override sanction mute deactivate activate reactivate`,
  auth: 'login logout authenticate signin signout signup rotate decrypt encrypt sign unseal',
  remember: 'remember memorize memorise forget learn retain',
  delegate: 'delegate handoff consult',
  drive: 'click type press scroll hover drag navigate goto tap swipe keypress',
};

// Words that are often nouns ("post", "order"): they only count if the name has no strong verb.
const weak: Partial<Record<VerbClass, string>> = {
  publish: 'post comment',
  send: 'email mail message text sms call alert chat dm webhook contact',
  pay: 'payment order book booking charge transfer trade exchange payroll bill',
  write:
    'schedule request report log file note form return track review index print plan management writer writing use',
  exec: 'command script code python terminal shell process cmd interpreter action',
  read: `status details detail history info information summary overview stats statistics metrics weather forecast time
    date balance snapshot reader`,
  admin: 'ban permission',
  drive: 'mouse keyboard computer act',
  delegate: 'escalate',
};

function vocabulary(): Map<string, Verb> {
  const verbs = new Map<string, Verb>();
  for (const [strong, lists] of [
    [true, strongWords],
    [false, weak],
  ] as const) {
    for (const [verbClass, words] of Object.entries(lists)) {
      for (const word of words.split(/\s+/)) {
        if (!verbs.has(word)) verbs.set(word, { class: verbClass as VerbClass, strong });
      }
    }
  }
  return verbs;
}

/** Verbs in tool names, by lower-case word. */
export const verbsByWord: ReadonlyMap<string, Verb> = vocabulary();
