import type { ALBEvent, APIGatewayProxyEvent, APIGatewayProxyEventV2 } from 'aws-lambda';

/** A delivery, as it arrives at a load balancer or an API Gateway. */
export interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly isBase64Encoded?: boolean;
}

export type LambdaEvent = ALBEvent | APIGatewayProxyEvent | APIGatewayProxyEventV2;

/** Each service that calls a Lambda function for an HTTP request, with the event that its documentation shows. */
export const services: Record<string, (sent: Sent) => LambdaEvent> = {
  // A REST API keeps the case of header names, and has them twice.
  'an API Gateway REST API': ({ headers, body, isBase64Encoded = false }) =>
    ({
      resource: '/{proxy+}',
      path: '/webhooks',
      httpMethod: 'POST',
      headers: { ...headers, Host: 'shop.example' },
      multiValueHeaders: lists({ ...headers, Host: 'shop.example' }),
      queryStringParameters: { tenant: 'a b' },
      multiValueQueryStringParameters: { tenant: ['a b'] },
      pathParameters: { proxy: 'webhooks' },
      stageVariables: null,
      requestContext: { stage: 'prod', path: '/prod/webhooks', httpMethod: 'POST', requestId: '1' },
      body,
      isBase64Encoded,
    }) as unknown as APIGatewayProxyEvent,
  // Names are in lower case, cookies are apart, and an absent body is left out.
  'an API Gateway HTTP API or a function URL': ({ headers, body, isBase64Encoded = false }) =>
    ({
      version: '2.0',
      routeKey: '$default',
      rawPath: '/webhooks',
      rawQueryString: 'tenant=a%20b',
      cookies: ['session=1', 'theme=dark'],
      headers: { ...lowerCase(headers), host: 'shop.example' },
      queryStringParameters: { tenant: 'a b' },
      requestContext: {
        stage: '$default',
        domainName: 'shop.example',
        http: {
          method: 'POST',
          path: '/webhooks',
          protocol: 'HTTP/1.1',
          sourceIp: '192.0.2.1',
          userAgent: 'x',
        },
      },
      ...(body === null ? {} : { body }),
      isBase64Encoded,
    }) as unknown as APIGatewayProxyEventV2,
  // A load balancer does not decode the query string.
  'a load balancer': ({ headers, body, isBase64Encoded = false }) => ({
    requestContext: { elb: { targetGroupArn: 'arn:aws:elasticloadbalancing:targetgroup/a/1' } },
    httpMethod: 'POST',
    path: '/webhooks',
    queryStringParameters: { tenant: 'a%20b' },
    headers: { ...lowerCase(headers), host: 'shop.example' },
    body: body ?? '',
    isBase64Encoded,
  }),
  'a load balancer with multi-value headers': ({ headers, body, isBase64Encoded = false }) => ({
    requestContext: { elb: { targetGroupArn: 'arn:aws:elasticloadbalancing:targetgroup/a/1' } },
    httpMethod: 'POST',
    path: '/webhooks',
    multiValueQueryStringParameters: { tenant: ['a%20b'] },
    multiValueHeaders: lists({ ...lowerCase(headers), host: 'shop.example' }),
    body: body ?? '',
    isBase64Encoded,
  }),
};

function lists(headers: Readonly<Record<string, string>>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
