/** 판정 이유를 한국어로: the API gives reasons in English; each is told in Korean with its numbers. */

import { translator, type Pair } from "./patterns";

/** A clock that is ahead makes seconds negative. */
const N = "(-?[\\d,]+)";

const REASONS: Pair[] = [
  ["caught up", "모두 읽었습니다"],
  ["no partitions", "파티션이 없습니다"],
  ["no commit yet", "아직 커밋이 없습니다"],
  [`only ${N} commits seen, too few to judge`, "커밋이 $1개뿐이라 판정하기에 부족합니다"],
  ["the end of this partition is not known", "이 파티션의 끝 오프셋을 알 수 없습니다"],
  [`lag ${N} is at most the allowed ${N}`, "지연 $1건은 허용된 $2건 이내입니다"],
  [`no commit for ${N} s, window spans ${N} s, lag ${N}`, "$1초 동안 커밋이 없습니다 (윈도 길이 $2초, 지연 $3건)"],
  [
    `went back from offset ${N} to ${N} and has not reached it again`,
    "오프셋이 $1에서 $2(으)로 되돌아갔고 아직 그 지점에 다시 이르지 못했습니다",
  ],
  [`lag ${N}, but caught up within the last ${N} commits`, "지연 $1건이지만 최근 커밋 $2개 안에 모두 따라잡은 적이 있습니다"],
  [
    `lag ${N}, but each of the last ${N} commits reached the end observed before it`,
    "지연 $1건이지만 최근 커밋 $2개는 각각 그 직전에 관측된 끝까지 읽은 뒤에 이루어졌습니다",
  ],
  [
    `always ${N} behind: this client commits the last record it processed`,
    "항상 $1건 뒤에 있습니다: 이 클라이언트는 마지막으로 처리한 레코드의 오프셋을 커밋합니다",
  ],
  [
    `always ${N} behind: the group leaves this lag each time it reads to the end`,
    "항상 $1건 뒤에 있습니다: 이 그룹은 끝까지 읽을 때마다 이만큼을 남깁니다",
  ],
  [`the last ${N} commits are all of offset ${N}, lag ${N}`, "최근 커밋 $1개가 모두 오프셋 $2이며 지연은 $3건입니다"],
  [
    `lag ${N}, and no earlier lag is known to compare it with`,
    "지연 $1건이며 비교할 이전 지연을 알 수 없습니다",
  ],
  [
    `lag did not fall in ${N} commits: ${N} then, ${N} at the last commit, ${N} now`,
    "커밋 $1개 동안 지연이 줄지 않았습니다: 처음 $2건, 마지막 커밋에서 $3건, 지금 $4건",
  ],
  [`lag ${N}, and it fell within the last ${N} commits`, "지연 $1건이며 최근 커밋 $2개 안에서 줄었습니다"],
  [`lag ${N} is above the threshold that was set`, "지연 $1건이 설정된 임계값을 넘었습니다"],
  [
    `the first of ${N} unread records is older than the threshold that was set`,
    "읽지 않은 레코드 $1건 중 첫 레코드가 설정된 임계값보다 오래되었습니다",
  ],
  [
    `lag ${N}, but only ${N} of at least ${N} commits seen to tell a trend`,
    "지연 $1건이지만 추세를 보려면 커밋이 $3개 이상 필요하고 지금은 $2개입니다",
  ],
  [
    `lag ${N}, but known at only ${N} of ${N} commits, too few to tell a trend`,
    "지연 $1건이지만 커밋 $3개 중 $2개에서만 지연을 알아 추세를 말하기에 부족합니다",
  ],
  [
    `the ${N} offsets up to the end are marks of transactions, all records are read`,
    "끝까지의 오프셋 $1개는 트랜잭션 표시이며 레코드는 모두 읽었습니다",
  ],
  [
    `lag ${N}, but an open transaction keeps it from readers of committed records; the rest is read`,
    "지연 $1건은 열린 트랜잭션 때문에 아직 읽을 수 없는 레코드이며 나머지는 읽었습니다",
  ],
  [
    `lag ${N} behind a transaction that has been open for over ${N} minutes; the rest is read`,
    "$2분 넘게 열려 있는 트랜잭션 뒤에 지연 $1건이 있으며 나머지는 읽었습니다",
  ],
  [
    `lag climbs over the last ${N} commits: from ${N} to ${N}, ${N} now`,
    "최근 커밋 $1개 동안 지연이 늘고 있습니다: $2건에서 $3건, 지금 $4건",
  ],
  [
    `lag ${N}, but it does not climb: ${N} then, ${N} at the last commit`,
    "지연 $1건이지만 늘지는 않습니다: 처음 $2건, 마지막 커밋에서 $3건",
  ],
  [`no commit for ${N} s after only ${N}, lag ${N}`, "커밋 $2개 뒤로 $1초 동안 커밋이 없습니다 (지연 $3건)"],
  [
    `no commit for ${N} s, usually one every ${N} s, lag ${N}`,
    "$1초 동안 커밋이 없습니다 (평소 $2초마다 커밋, 지연 $3건)",
  ],
  [
    "How far a share group has come is not in the offsets topic, and the client library that Warren reads Kafka with cannot ask for it: its lag is not available here\\. kafka-share-groups\\.sh --describe tells it\\.",
    "공유 그룹의 진행 위치는 오프셋 토픽에 없고, Warren이 쓰는 Kafka 클라이언트로는 물어볼 수 없어 지연을 표시할 수 없습니다. kafka-share-groups.sh --describe로 볼 수 있습니다.",
  ],
  [
    "The group has no committed offsets and no partitions, so there is nothing to judge it by\\.",
    "커밋된 오프셋도 파티션도 없어 판정할 근거가 없습니다.",
  ],
  [
    "An open transaction in the group's partition of the offsets topic hides all commits that came after it began; they are known once it ends\\.",
    "오프셋 토픽에서 이 그룹의 파티션에 열린 트랜잭션이 있어 그 뒤의 커밋이 보이지 않습니다. 트랜잭션이 끝나면 알 수 있습니다.",
  ],
  [
    "The group's partition of the offsets topic has not been read since then\\.",
    "그 뒤로 오프셋 토픽에서 이 그룹의 파티션을 읽지 못했습니다.",
  ],
  ["The place where the group commits could not be read since then\\.", "그 뒤로 이 그룹이 커밋하는 곳을 읽지 못했습니다."],
  [
    "Warren was started again, and what has come since its last snapshot is not read yet\\.",
    "Warren이 다시 시작되었고 마지막 스냅숏 이후의 내용은 아직 읽지 않았습니다.",
  ],
  [
    "the partition has no leader: nobody can read or write it, and its end is the last one that was seen",
    "파티션에 리더가 없어 아무도 읽거나 쓸 수 없습니다. 끝 오프셋은 마지막으로 본 값입니다",
  ],
  [
    `a transaction at offset ${N} has been open for at least ${N} s`,
    "오프셋 $1의 트랜잭션이 $2초 이상 열려 있습니다",
  ],
  [
    `a transaction at offset ${N} has been open for at least ${N} s; readers of committed records are blocked there, and this group has come so far`,
    "오프셋 $1의 트랜잭션이 $2초 이상 열려 있어 커밋된 레코드만 읽는 소비자는 거기서 막히며, 이 그룹은 그 지점까지 읽었습니다",
  ],
  [`the ${N} offsets up to the end are marks of transactions`, "끝까지의 오프셋 $1개는 트랜잭션 표시입니다"],
  [
    "it was committed to another topic of this name: the topic was deleted and made anew",
    "같은 이름의 이전 토픽에 커밋된 것입니다. 토픽이 삭제되고 다시 만들어졌습니다",
  ],
  [
    `the committed offset is ${N} beyond the end: the topic was made anew or has lost records, or its end has grown since it was seen last`,
    "커밋된 오프셋이 끝보다 $1 앞섭니다. 토픽이 다시 만들어졌거나 레코드를 잃었거나, 마지막으로 본 뒤 끝이 늘어났습니다",
  ],
  [
    `${N} records after the committed offset were deleted before they were read`,
    "커밋된 오프셋 뒤의 레코드 $1건이 읽히기 전에 삭제되었습니다",
  ],
  // Why this Warren is the one that sends, or is not.
  ["the only one", "하나뿐입니다"],
  ["leading", "리더입니다"],
  ["lost: this process was asleep", "프로세스가 멈춰 있는 동안 리더 자리를 잃었습니다"],
  ["not connected to ZooKeeper", "ZooKeeper에 연결되지 않았습니다"],
  ["waiting for the brokers", "브로커를 기다리는 중입니다"],
  ["waiting: another Warren leads", "다른 Warren이 리더입니다"],
  ["waiting: (.+); it needs: (.+)", "기다리는 중입니다: $1. 필요한 권한: $2"],
  ["waiting: (.+)", "기다리는 중입니다: $1"],
];

const translated = translator(REASONS);

/** A topic and a partition may stand before a reason. */
const PLACE = /^[\w.-]+ \d+: /;

/** A reason in Korean; as it is if it is not known. */
export function koreanReason(text: string): string {
  const place = PLACE.exec(text)?.[0] ?? "";
  return place + translated(text.slice(place.length));
}
