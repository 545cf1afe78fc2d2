"""The events of warpgroups: wgmmas in flight, and the registers that they pass on."""

from tilewright.passes.analysis.hazards.accesses import Part, RoleAccess
from tilewright.passes.analysis.hazards.copies import Copies
from tilewright.passes.analysis.hazards.roles import RoleNumbers
from tilewright.passes.analysis.hazards.running import WARPGROUP
from tilewright.passes.analysis.hazards.trace import WARP, Event

REGISTERS, MOST_REGISTERS = 64 * 1024, 256
"""The registers of an SM, and the most that a thread may have."""


class Warpgroups(Copies):
    """wgmmas in flight, by warpgroup."""

    def _wgmma(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        ready = self._together(event, roles, WARPGROUP // WARP, meet=False)
        self._meet_warps(ready)
        for team, members in self._by_team(ready, WARPGROUP // WARP).items():
            speakers = list({self.roles[role].warp: role for role in members}.values())
            for operand in event.accesses:
                cells, root = 0, getattr(operand[1], "root", None)
                same = all(isinstance(index, int) for index in operand[2])
                for touched in self.cells.shared(
                    event, operand, speakers[:1] if same else speakers
                ):
                    cells |= touched.cells if touched else 0
                access = RoleAccess("wgmma", speakers[0], False, cells, [Part(event, cells)])
                access.group = {role: self.groups["wgmma", role] + 1 for role in members}
                key = (self.roles[speakers[0]].cta, root)
                self._begin(key, access, speakers, team)
            self._meet(members)
        return ready

    def _meet_warps(self, roles: RoleNumbers) -> None:
        for members in self._by_team(roles, 1).values():
            self._meet(members)

    def _wgmma_commit(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        return self._commit(event, self._together(event, roles))

    def _wgmma_wait(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        ready = self._together(event, roles)
        for role in ready:
            last = self.groups["wgmma", role] - event.constant
            for access in self.streams["wgmma", self._team(role, WARPGROUP // WARP)]:
                if access.group.get(role, last + 1) <= last:
                    access.done.append(self._stamp(role))
        for team in self._by_team(ready, WARPGROUP // WARP):
            stream = self.streams["wgmma", team]
            self.streams["wgmma", team] = [
                access for access in stream if len(access.done) < len(access.group)
            ]
        return ready

    def _registers(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        """`setmaxnreg`: what a warpgroup gives back is there for others of its CTA. It begins with
        as many a thread as one CTA may have on an SM, or ptxas leaves setmaxnreg out."""
        ready = self._together(event, roles, WARPGROUP // WARP)
        action, count = event.constant
        waiting = list[int]()
        for team, members in self._by_team(ready, WARPGROUP // WARP).items():
            cta = self.roles[members[0]].cta
            first = min(REGISTERS // self.launch.threads // 8 * 8, MOST_REGISTERS)
            own = self.registers.setdefault(team, first)
            if action == "inc":
                self.asking[team] = (cta, count, members)
                waiting += members
            else:
                self.free[cta] += max(own - count, 0)
                self.registers[team] = min(own, count)
        self._grant(waiting)
        return [role for role in ready if role not in waiting]

    def _grant(self, waiting: RoleNumbers) -> None:
        """Give warpgroups the registers that they ask for, as far as there are any."""
        for team, (cta, count, members) in list(self.asking.items()):
            missing = count - self.registers[team]
            if missing <= self.free[cta]:
                self.free[cta] -= max(missing, 0)
                self.registers[team] = max(count, self.registers[team])
                del self.asking[team]
                for role in members:
                    self._advance(role)
