/** An attribute of OCSF 1.8.0 that the server sends, or must send. */
export interface Attribute {
  /** Type of a value that is no object. */
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'json';
  /** Object of OCSF; `object` for any. */
  readonly object?: string;
  readonly isArray?: boolean;
  readonly isRequired?: boolean;
  /** Profile without which the attribute does not exist. */
  readonly profile?: string;
  /** Captions of the values that the server sends. */
  readonly values?: Readonly<Record<number | string, string>>;
  /** Attribute that has the caption of the value. */
  readonly caption?: string;
}

/** A class or an object of OCSF. */
export interface Shape {
  readonly attributes: Readonly<Record<string, Attribute>>;
  /** Attributes of which one must be there. */
  readonly atLeastOne?: readonly string[];
}

const ofBothClasses: Readonly<Record<string, Attribute>> = {
  activity_name: { type: 'string' },
  category_name: { type: 'string' },
  class_name: { type: 'string' },
  metadata: { object: 'metadata', isRequired: true },
  severity: { type: 'string' },
  severity_id: {
    type: 'integer',
    isRequired: true,
    values: { 1: 'Informational', 2: 'Low', 3: 'Medium', 4: 'High', 5: 'Critical', 99: 'Other' },
    caption: 'severity',
  },
  status: { type: 'string' },
  time: { type: 'integer', isRequired: true },
  type_name: { type: 'string' },
  unmapped: { object: 'object' },
  resources: { object: 'resource_details', isArray: true },
};

/** Classes of OCSF 1.8.0 that the server sends, with the attributes and values that it uses. */
export const ocsfClasses: Readonly<Record<string, Shape>> = {
  api_activity: {
    attributes: {
      ...ofBothClasses,
      api: { object: 'api', isRequired: true },
      actor: { object: 'actor', isRequired: true },
      action: { type: 'string', profile: 'security_control' },
      action_id: {
        type: 'integer',
        profile: 'security_control',
        values: { 1: 'Allowed', 2: 'Denied', 3: 'Observed', 99: 'Other' },
        caption: 'action',
      },
      authorizations: { object: 'authorization', isArray: true, profile: 'security_control' },
      disposition: { type: 'string', profile: 'security_control' },
      disposition_id: {
        type: 'integer',
        profile: 'security_control',
        values: {
          1: 'Allowed',
          2: 'Blocked',
          8: 'Approved',
          14: 'Delayed',
          17: 'Logged',
          25: 'Rejected',
          99: 'Other',
        },
        caption: 'disposition',
      },
      is_alert: { type: 'boolean', profile: 'security_control' },
      policy: { object: 'policy', profile: 'security_control' },
      activity_id: {
        type: 'integer',
        isRequired: true,
        values: { 1: 'Create', 3: 'Update', 4: 'Delete', 99: 'Other' },
        caption: 'activity_name',
      },
      category_uid: {
        type: 'integer',
        isRequired: true,
        values: { 6: 'Application Activity' },
        caption: 'category_name',
      },
      class_uid: {
        type: 'integer',
        isRequired: true,
        values: { 6003: 'API Activity' },
        caption: 'class_name',
      },
      status_code: { type: 'string' },
      status_id: { type: 'integer', values: { 1: 'Success', 2: 'Failure', 99: 'Other' }, caption: 'status' },
      type_uid: {
        type: 'integer',
        isRequired: true,
        values: {
          600301: 'API Activity: Create',
          600303: 'API Activity: Update',
          600304: 'API Activity: Delete',
          600399: 'API Activity: Other',
        },
        caption: 'type_name',
      },
      message_context: { object: 'message_context', profile: 'ai_operation' },
      src_endpoint: { object: 'network_endpoint', isRequired: true },
    },
  },
  detection_finding: {
    attributes: {
      ...ofBothClasses,
      is_alert: { type: 'boolean' },
      risk_level: { type: 'string' },
      risk_level_id: {
        type: 'integer',
        values: { 2: 'Medium', 3: 'High', 4: 'Critical', 99: 'Other' },
        caption: 'risk_level',
      },
      risk_score: { type: 'integer' },
      activity_id: {
        type: 'integer',
        isRequired: true,
        values: { 1: 'Create', 2: 'Update', 99: 'Other' },
        caption: 'activity_name',
      },
      category_uid: {
        type: 'integer',
        isRequired: true,
        values: { 2: 'Findings' },
        caption: 'category_name',
      },
      class_uid: {
        type: 'integer',
        isRequired: true,
        values: { 2004: 'Detection Finding' },
        caption: 'class_name',
      },
      message: { type: 'string' },
      status_id: { type: 'integer', values: { 1: 'New', 99: 'Other' }, caption: 'status' },
      type_uid: {
        type: 'integer',
        isRequired: true,
        values: { 200401: 'Detection Finding: Create', 200402: 'Detection Finding: Update' },
        caption: 'type_name',
      },
      finding_info: { object: 'finding_info', isRequired: true },
    },
  },
};

/** Objects in these classes. */
export const ocsfObjects: Readonly<Record<string, Shape>> = {
  metadata: {
    attributes: {
      correlation_uid: { type: 'string' },
      event_code: { type: 'string' },
      log_name: { type: 'string' },
      logged_time: { type: 'integer' },
      product: { object: 'product', isRequired: true },
      profiles: { type: 'string', isArray: true },
      sequence: { type: 'integer' },
      tenant_uid: { type: 'string' },
      uid: { type: 'string' },
      version: { type: 'string', isRequired: true },
    },
  },
  product: {
    attributes: {
      name: { type: 'string' },
      vendor_name: { type: 'string' },
      version: { type: 'string' },
    },
    atLeastOne: ['name'],
  },
  actor: {
    attributes: {
      app_name: { type: 'string' },
      app_uid: { type: 'string' },
      session: { object: 'session' },
      user: { object: 'user' },
    },
    atLeastOne: ['user', 'session', 'app_name', 'app_uid'],
  },
  session: {
    attributes: {
      uid: { type: 'string' },
    },
  },
  user: {
    attributes: {
      name: { type: 'string' },
      uid: { type: 'string' },
      type: { type: 'string' },
      type_id: { type: 'integer', values: { 3: 'System', 99: 'Other' }, caption: 'type' },
    },
    atLeastOne: ['name', 'uid'],
  },
  api: {
    attributes: {
      operation: { type: 'string', isRequired: true },
      request: { object: 'request' },
      response: { object: 'response' },
    },
  },
  request: {
    attributes: {
      uid: { type: 'string', isRequired: true },
    },
  },
  response: {
    attributes: {
      code: { type: 'integer' },
    },
  },
  network_endpoint: {
    attributes: {
      svc_name: { type: 'string' },
    },
    atLeastOne: ['svc_name'],
  },
  message_context: {
    attributes: {
      uid: { type: 'string' },
      ai_role: { type: 'string' },
      ai_role_id: { type: 'integer', values: { 4: 'Agent', 99: 'Other' }, caption: 'ai_role' },
      application: { object: 'application' },
    },
    atLeastOne: ['application'],
  },
  application: {
    attributes: {
      name: { type: 'string' },
      uid: { type: 'string' },
    },
    atLeastOne: ['uid', 'name'],
  },
  policy: {
    attributes: {
      name: { type: 'string' },
      uid: { type: 'string' },
      version: { type: 'string' },
    },
    atLeastOne: ['name', 'uid'],
  },
  authorization: {
    attributes: {
      decision: { type: 'string' },
      policy: { object: 'policy' },
    },
  },
  finding_info: {
    attributes: {
      modified_time: { type: 'integer' },
      title: { type: 'string' },
      types: { type: 'string', isArray: true },
      uid: { type: 'string', isRequired: true },
    },
  },
  resource_details: {
    attributes: {
      name: { type: 'string' },
      uid: { type: 'string' },
      type: { type: 'string' },
      role: { type: 'string' },
      role_id: {
        type: 'integer',
        values: { 1: 'Target', 2: 'Actor', 3: 'Affected', 99: 'Other' },
        caption: 'role',
      },
    },
    atLeastOne: ['name', 'uid'],
  },
};
