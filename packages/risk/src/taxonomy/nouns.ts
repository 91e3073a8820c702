/** Kinds of objects that a noun can name. The order is part of the stored format: append only. */
export const nounClassNames = [
  'message',
  'web',
  'file',
  'calendar',
  'task',
  'opinion',
  'money',
  'purchase',
  'identity',
  'person',
  'rights',
  'credential',
  'code',
  'data',
  'memory',
  'agent',
  'infrastructure',
  'place',
  'fact',
  'health',
] as const;

/** One of {@link nounClassNames}. */
export type NounClass = (typeof nounClassNames)[number];

const nounWords: Record<NounClass, string> = {
  message: `email emails mail mails message messages inbox outbox mailbox thread threads dm dms sms text chat chats
    channel channels conversation conversations notification notifications newsletter reply replies gmail outlook
    slack discord telegram whatsapp teams imap smtp voicemail letter announcement digest call phone`,
  web: `web webpage webpages website websites url urls link links internet http https html browser site sites page
    pages article articles news feed feeds rss blog wiki wikipedia google bing duckduckgo tavily exa brave arxiv
    paper papers pdf video videos youtube reddit hackernews twitter x linkedin
    timeline social playwright puppeteer selenium webdriver chrome chromium devtools search_result results source sources context docs documentation transcript subtitles`,
  file: `file files filesystem draft drafts document documents doc folder folders directory directories path drive attachment attachments
    sheet spreadsheet spreadsheets slide slides presentation workbook worksheet cell cells media image images photo
    photos clipboard download downloads upload uploads bucket object objects blob blobs artifact artifacts disk
    s3 dropbox notion block blocks page_content text_file note notes notebook notebooks`,
  calendar: `calendar calendars event events meeting meetings appointment appointments schedule schedules reminder
    reminders invite invitation invitations attendee attendees participant participants availability slot slots`,
  task: `task tasks issue issues ticket tickets card cards board boards todo todos project projects epic sprint story
    incident incidents case cases bug bugs lead leads deal deals opportunity contact_record request requests jira
    linear asana trello milestone milestones list_item item items job jobs workflow workflows form forms survey
    complaint claim claims discussion discussions pr prs pull merge_request`,
  opinion: `review reviews comment comments feedback rating ratings answer answers question questions forum mention mentions
    reaction reactions emoji post posts tweet tweets`,
  money: `payment payments money fund funds invoice invoices transaction transactions bill bills charge charges refund
    refunds payout payouts balance bank iban wallet crypto coin token_transfer stock stocks trade trades portfolio
    position positions loan deposit withdrawal paypal stripe price prices quote subscription subscriptions budget
    expense expenses salary payroll tax dispute coupon coupons card_payment currency`,
  purchase: `order orders cart checkout booking bookings reservation reservations ticket_purchase purchase product
    products hotel hotels flight flights restaurant restaurants car rental trip shipment shipping delivery`,
  identity: `account accounts profile user users customer customers client clients self me identity passport`,
  person: `contact contacts person people employee employees member members participant team teams_member group groups
    friend friends patient patients candidate candidates subscriber subscribers organization org`,
  rights: `permission permissions role roles access acl policy policies scope scopes privilege privileges admin admins
    firewall security setting settings collaborator collaborators rule rules whitelist allowlist blocklist webhook
    webhooks branch_protection visibility restriction restrictions ownership`,
  credential: `password passwords passwd secret secrets credential credentials token tokens apikey api_key key keys
    certificate certificates cert ssh vault otp mfa 2fa totp oauth login session_cookie cookie cookies passphrase pin
    signature`,
  code: `code script scripts command commands shell terminal python javascript js bash sandbox repl notebook_cell cell
    function functions program process processes binary package packages dependency
    extension plugin plugins macro snippet kernel cmd jupyter expression lambda`,
  data: `database databases db table tables row rows record records query sql postgres mysql sqlite mongo collection
    collections schema dataset datasets index entry entries document_db redis bigquery snowflake column columns
    field fields view vector vectors embedding embeddings data log logs report reports dashboard dashboards metric
    metrics trace traces repo repos repository repositories branch branches commit commits tag tags release releases
    git github gitlab content contents activity activities`,
  memory: `memory memories knowledge entity entities relation relations observation observations graph fact facts
    preference preferences core_memory archival`,
  agent: 'agent agents subagent assistant crew handoff coworker worker swarm a2a',
  infrastructure: `server servers instance instances cluster clusters pod pods container containers docker kubectl helm deployment deployments service services
    node nodes vm vms machine machines host hosts network dns domain domains route load_balancer namespace namespaces
    pipeline pipelines build builds environment environments config configuration device devices system volume
    volumes kubernetes k8s terraform aws azure gcp light lights thermostat door router stack stacks topic queue app apps`,
  place:
    'map maps location locations address addresses city cities country countries place places direction directions route distance coordinates',
  fact: `time date day days datetime timezone weather forecast temperature version help schema ping status health
    capabilities tools tool stats statistics count id ids name names number random uuid rate rates exchange unit units`,
  health: 'medication prescription prescriptions diagnosis allergy allergies vitals lab',
};

function vocabulary(): Map<string, NounClass> {
  const nouns = new Map<string, NounClass>();
  for (const [nounClass, words] of Object.entries(nounWords)) {
    for (const word of words.split(/\s+/)) {
      if (!nouns.has(word)) nouns.set(word, nounClass as NounClass);
    }
  }
  return nouns;
}

/** Nouns in tool names, by lower-case word. */
export const nounClasses: ReadonlyMap<string, NounClass> = vocabulary();
