/** API v1의 오류를 한국어로: an error by its code, with the names in its message; what to do about it by patterns. */

import { translator } from "./patterns";

/** $1 and $2 are the names that stand in backquotes, $0 is the whole message where that tells what a code cannot. */
const MESSAGES: Record<string, string> = {
  path_not_found: "이 경로에는 아무것도 없습니다.",
  cluster_not_found: "클러스터 $1이(가) 없습니다.",
  group_not_found: "클러스터 $1에 그룹 $2이(가) 없습니다.",
  topic_not_found: "$1에 토픽 $2이(가) 없습니다.",
  partition_not_found: "토픽 $1에 그런 파티션이 없습니다.",
  incident_not_found: "인시던트 $1이(가) 없습니다.",
  silence_not_found: "꺼진 알림 $1이(가) 없습니다.",
  notifier_not_found: "알림 $1이(가) 없습니다.",
  no_history: "이력에서 찾을 수 없습니다: $0",
  invalid_parameter: "요청의 매개변수가 잘못되었습니다: $0",
  invalid_body: "요청의 내용이 잘못되었습니다: $0",
  unauthorized: "토큰이 없거나 알 수 없는 토큰입니다.",
  forbidden: "변경은 Warren이 실행 중인 컴퓨터에서, 또는 write-tokens의 토큰으로만 할 수 있습니다.",
  method_not_allowed: "여기서는 할 수 없는 요청입니다.",
  body_too_long: "요청이 너무 깁니다.",
  busy: "지금은 이력을 묻는 요청이 너무 많습니다.",
  internal_error: "Warren이 이 요청에 답하지 못했습니다.",
};

export function koreanProblem(code: string, message: string): string {
  const names = [message, ...[...message.matchAll(/`([^`]*)`/g)].map((one) => one[1] ?? "")];
  return MESSAGES[code]?.replace(/\$(\d)/g, (_, place: string) => names[Number(place)] ?? "") ?? message;
}

const TOKENS = "[security]의 write-tokens에 있는 토큰으로 변경할 수 있습니다.";

const hint = translator([
  ["Did you mean (.+)\\?", "혹시 $1을(를) 찾으시나요?"],
  ["Known are (.+)\\.", "있는 클러스터: $1"],
  ["It uses (.+)\\.", "사용하는 토픽: $1"],
  ["It has (\\d+), counted from 0\\.", "파티션은 $1개이며 0부터 셉니다."],
  ["(\\S+) lists the known ones\\.", "목록은 $1에 있습니다."],
  ["There is (.+)\\.", "있는 알림: $1"],
  ["None is configured\\.", "설정된 알림이 없습니다."],
  ["`write-tokens` of `\\[security\\]` has those that may change things\\.", TOKENS],
  ["With `write-tokens` in `\\[security\\]` they are accepted from those who have one\\.", TOKENS],
  [
    "`\\[security\\]` must have the hash that `warren hash-token` makes\\.",
    "[security]에는 warren hash-token이 만든 해시가 있어야 합니다.",
  ],
  [
    "Send it as `Authorization: Bearer TOKEN`, or as the password of basic authentication\\.",
    "Authorization: Bearer TOKEN으로, 또는 기본 인증의 비밀번호로 보내세요.",
  ],
  ["Ask again in some seconds\\.", "몇 초 뒤에 다시 물어보세요."],
  ["Its log tells why\\. Please report it\\.", "이유는 로그에 있습니다. 알려 주세요."],
]);

export function koreanHint(text: string): string {
  return hint(text).replaceAll("` or `", "`, `");
}
